"""Primitive classes, one a line: ``Name(attributes)(inputs) = call``.

In the call attributes and inputs stand under their names, ``o`` is mindspore.ops, ``p``, ``nn`` and ``optim`` are groups of the
registry that are no public module (``p``: what only primitive classes compute).
"""

TABLE = """
# ---- elementwise ----
Abs()(input) = o.abs(input)
ACos()(input) = o.acos(input)
Acosh()(input) = o.acosh(input)
Add()(input, other) = o.add(input, other)
AddN()(x) = p.add_n(x)
AccumulateNV2()(x) = p.add_n(x)
Addcdiv()(input, tensor1, tensor2, value) = o.addcdiv(input, tensor1, tensor2, value)
Addcmul()(input, tensor1, tensor2, value) = o.addcmul(input, tensor1, tensor2, value)
Angle()(input) = o.angle(input)
ApproximateEqual(tolerance=1e-05)(x, y) = p.approximate_equal(x, y, tolerance)
Asin()(input) = o.asin(input)
Asinh()(input) = o.asinh(input)
Atan()(input) = o.atan(input)
Atan2()(input, other) = o.atan2(input, other)
Atanh()(input) = o.atanh(input)
BitwiseAnd()(x, y) = o.bitwise_and(x, y)
BitwiseOr()(x, y) = o.bitwise_or(x, y)
BitwiseXor()(x, y) = o.bitwise_xor(x, y)
Cast()(input_x, dtype) = o.cast(input_x, dtype)
Ceil()(input) = o.ceil(input)
CeLU(alpha=1.0)(x) = o.celu(x, alpha)
Complex()(real, imag) = o.complex(real, imag)
ComplexAbs()(x) = o.abs(x)
Conj()(input) = o.conj(input)
Cos()(input) = o.cos(input)
Cosh()(input) = o.cosh(input)
Digamma()(x) = o.digamma(x)
Div()(input, other) = p.div(input, other)
DivNoNan()(x1, x2) = p.div_no_nan(x1, x2)
Einsum(equation)(x) = o.einsum(equation, *x)
STFT(n_fft, hop_length, win_length, normalized, onesided, return_complex)(x, window) = p.stft(x, window, n_fft, hop_length, win_length, normalized, onesided, return_complex)
CompareAndBitpack()(x, threshold) = compare_and_bitpack(x, threshold)
HistogramFixedWidth(nbins, dtype='int32')(x, range) = histogram_fixed_width(x, range, nbins, dtype)
MultilabelMarginLoss(reduction='mean')(x, target) = multilabel_margin_loss(x, target, reduction)
RaggedRange(Tsplits)(starts, limits, deltas) = ragged_range(starts, limits, deltas, Tsplits)
ConfusionMatrix(num_classes, dtype='int32')(labels, predictions, weights=None) = confusion_matrix(labels, predictions, weights, num_classes, dtype)
Expand()(x, shape) = o.broadcast_to(x, ints(shape))
FloatStatus()(x) = (1 - o.isfinite(x).all().astype(float32)).reshape(1)
NuclearNorm(dim=None, keepdim=False)(x) = o.norm(x, 'nuc', dim, keepdim)
ScatterAddWithAxis(axis=0)(input_x, indices, updates) = o.tensor_scatter_elements(input_x, indices, updates, axis, 'add')
SparseTensorDenseAdd()(x1_indices, x1_values, x1_shape, x2) = sparse_dense_add(x1_indices, x1_values, x1_shape, x2)
SparseTensorDenseMatmul(adjoint_st=False, adjoint_dt=False)(indices, values, sparse_shape, dense) = sparse_dense_matmul(indices, values, sparse_shape, dense, adjoint_st, adjoint_dt)
TridiagonalMatMul()(superdiag, maindiag, subdiag, rhs) = tridiagonal_matmul(superdiag, maindiag, subdiag, rhs)
Elu(alpha=1.0)(input_x) = o.elu(input_x, alpha)
Equal()(input, other) = o.equal(input, other)
EqualCount()(x, y) = p.equal_count(x, y)
Erf()(input) = o.erf(input)
Erfc()(input) = o.erfc(input)
Erfinv()(input) = o.erfinv(input)
Exp()(input) = o.exp(input)
Expm1()(input) = o.expm1(input)
FastGeLU()(x) = o.fast_gelu(x)
Floor()(input) = o.floor(input)
FloorDiv()(input, other) = o.floor_div(input, other)
FloorMod()(x, y) = o.floor_mod(x, y)
GeLU()(input) = o.gelu(input, 'tanh')
Greater()(input, other) = o.greater(input, other)
GreaterEqual()(input, other) = o.greater_equal(input, other)
Heaviside()(x, values) = o.heaviside(x, values)
HShrink(lambd=0.5)(input) = o.hardshrink(input, lambd)
HSigmoid()(input) = o.hardsigmoid(input)
HSwish()(input) = o.hardswish(input)
Hypot()(x1, x2) = o.hypot(x1, x2)
Imag()(input) = o.imag(input)
Inv()(x) = o.inv(x)
Invert()(x) = o.invert(x)
IsClose(rtol=1e-05, atol=1e-08, equal_nan=False)(input, other) = o.isclose(input, other, rtol, atol, equal_nan)
IsFinite()(input) = o.isfinite(input)
IsInf()(input) = o.isinf(input)
IsNan()(x) = o.isnan(x)
LeftShift()(x1, x2) = o.bitwise_left_shift(x1, x2)
Lerp()(input, end, weight) = o.lerp(input, end, weight)
Less()(input, other) = o.less(input, other)
LessEqual()(input, other) = o.less_equal(input, other)
Lgamma()(x) = o.lgamma(x)
Log()(input) = o.log(input)
Log1p()(input) = o.log1p(input)
LogicalAnd()(x, y) = o.logical_and(x, y)
LogicalNot()(input) = o.logical_not(input)
LogicalOr()(x, y) = o.logical_or(x, y)
LogicalXor()(input, other) = o.logical_xor(input, other)
Logit(eps=-1.0)(input) = o.logit(input, eps if eps >= 0 else None)
Maximum()(input, other) = o.maximum(input, other)
Minimum()(input, other) = o.minimum(input, other)
Mish()(x) = o.mish(x)
Mod()(x, y) = p.truncate_mod(x, y)
Mul()(input, other) = o.mul(input, other)
MulNoNan()(x, y) = p.mul_no_nan(x, y)
NanToNum(nan=None, posinf=None, neginf=None)(input) = o.nan_to_num(input, nan, posinf, neginf)
Neg()(input) = o.neg(input)
NotEqual()(input, other) = o.not_equal(input, other)
Polygamma()(a, x) = o.polygamma(a, x)
Pow()(input, exponent) = o.pow(input, exponent)
PReLU()(input, weight) = o.prelu(input, weight)
Real()(input) = o.real(input)
RealDiv()(x, y) = o.div(x, y)
Reciprocal()(input) = o.reciprocal(input)
ReLU()(input) = o.relu(input)
ReLU6()(x) = o.relu6(x)
RightShift()(input_x, input_y) = o.bitwise_right_shift(input_x, input_y)
Rint()(input_x) = o.round(input_x)
Round()(input, decimals=0) = o.round(input, decimals=decimals)
Rsqrt()(input) = o.rsqrt(input)
Select()(condition, input, other) = o.select(condition, input, other)
SeLU()(input_x) = o.selu(input_x)
Sigmoid()(input) = o.sigmoid(input)
Sign()(input) = o.sign(input)
SiLU()(input) = o.silu(input)
Sin()(input) = o.sin(input)
Sinc()(input) = o.sinc(input)
Sinh()(input) = o.sinh(input)
Softplus()(input_x) = o.softplus(input_x)
SoftShrink(lambd=0.5)(input) = o.softshrink(input, lambd)
Softsign()(input_x) = o.softsign(input_x)
Sqrt()(x) = o.sqrt(x)
Square()(input) = o.square(input)
SquaredDifference()(x, y) = p.squared_difference(x, y)
Sub()(x, y) = o.sub(x, y)
Tan()(input) = o.tan(input)
Tanh()(input) = o.tanh(input)
Trunc()(input) = o.trunc(input)
TruncateDiv()(x, y) = p.truncate_div(x, y)
TruncateMod()(x, y) = p.truncate_mod(x, y)
Xdivy()(x, y) = p.xdivy(x, y)
Xlogy()(input, other) = o.xlogy(input, other)
Betainc()(a, b, x) = p.betainc(a, b, x)
BesselI0()(x) = o.bessel_i0(x)
BesselI0e()(x) = o.bessel_i0e(x)
BesselI1()(x) = o.bessel_i1(x)
BesselI1e()(x) = o.bessel_i1e(x)
BesselJ0()(x) = o.bessel_j0(x)
BesselJ1()(x) = o.bessel_j1(x)
BesselK0()(x) = o.bessel_k0(x)
BesselK0e()(x) = o.bessel_k0e(x)
BesselK1()(x) = o.bessel_k1(x)
BesselK1e()(x) = o.bessel_k1e(x)
BesselY0()(x) = o.bessel_y0(x)
BesselY1()(x) = o.bessel_y1(x)
Eps()(x) = o.eps(x)
Fmax()(x1, x2) = o.fmax(x1, x2)
Fmin()(x1, x2) = o.fmin(x1, x2)
Gcd()(input, other) = o.gcd(input, other)
Lcm()(x1, x2) = o.lcm(x1, x2)
Igamma()(a, x) = o.igamma(a, x)
Igammac()(a, x) = o.igammac(a, x)
Mvlgamma(p)(x) = o.mvlgamma(x, p)
NextAfter()(input, other) = o.nextafter(input, other)
Polar()(abs, angle) = o.polar(abs, angle)
PopulationCount()(input_x) = o.population_count(input_x)
Zeta()(x, q) = o.zeta(x, q)
CheckNumerics()(x) = check_numerics(x)
ConjugateTranspose()(x, perm) = o.conj(o.transpose(x, ints(perm)))
ScalarCast()(input_x, input_y) = o.scalar_cast(input_x, input_y)

# ---- reductions ----
ArgMaxWithValue(axis=0, keep_dims=False)(input) = tuple(input.argmax_with_value(axis, keep_dims)[::-1])
ArgMinWithValue(axis=0, keep_dims=False)(input) = tuple(input.argmin_with_value(axis, keep_dims)[::-1])
Argmax(axis=-1, output_type=int32)(input_x) = o.cast(o.argmax(input_x, axis), output_type)
Argmin(axis=-1, output_type=int32)(x) = o.cast(o.argmin(x, axis), output_type)
CountNonZero(dims=None)(x) = o.count_nonzero(x, () if dims is None else dims)
CumProd(exclusive=False, reverse=False)(x, axis) = p.cumprod(x, axis, exclusive, reverse)
CumSum(exclusive=False, reverse=False)(input, axis) = p.cumsum(input, axis, exclusive, reverse)
CumulativeLogsumexp(exclusive=False, reverse=False)(x, axis) = p.cumulative_logsumexp(x, int(axis), exclusive, reverse)
Cummax(axis)(input) = o.cummax(input, axis)
Cummin(axis)(input) = o.cummin(input, axis)
EuclideanNorm(keep_dims=False)(x, axes=()) = p.lp_norm(x, 2, axes, keep_dims, 0.0)
L2Loss()(input_x) = p.l2_loss(input_x)
L2Normalize(axis=0, epsilon=0.0001)(x) = p.l2_normalize(x, axis, epsilon)
LpNorm(axis, p=2, keep_dims=False, epsilon=1e-12)(input) = rows.lp_norm(input, p, axis, keep_dims, epsilon)
ReduceAll(keep_dims=False)(input, axis=None) = o.all(input, ints(axis), keep_dims)
ReduceAny(keep_dims=False)(x, axis=()) = o.any(x, ints(axis), keep_dims)
ReduceMax(keep_dims=False)(x, axis=()) = o.amax(x, ints(axis), keep_dims)
ReduceMean(keep_dims=False)(x, axis=()) = p.reduce_mean(x, ints(axis), keep_dims)
ReduceMin(keep_dims=False)(x, axis=()) = o.amin(x, ints(axis), keep_dims)
ReduceProd(keep_dims=False)(x, axis=()) = p.reduce_prod(x, ints(axis), keep_dims)
ReduceStd(axis=(), unbiased=True, keep_dims=False)(x) = tuple(o.std_mean(x, ints(axis), int(unbiased), keep_dims))
ReduceSum(keep_dims=False, skip_mode=False)(x, axis=()) = p.reduce_sum(x, ints(axis), keep_dims, skip_mode)
SquareSumAll()(x, y) = tuple(p.square_sum_all(x, y))

# ---- shapes ----
BroadcastTo(shape)(input) = o.broadcast_to(input, ints(shape))
Concat(axis=0)(tensors) = o.concat(list(tensors), axis)
DepthToSpace(block_size)(x) = p.depth_to_space(x, block_size)
Diag()(input) = o.diag(input)
DiagPart()(input_x) = p.diag_part(input_x)
DType()(x) = x.dtype
ExpandDims()(input_x, axis) = o.expand_dims(input_x, int(axis))
Flatten()(input_x) = p.flatten(input_x)
Identity()(input_x) = o.deepcopy(input_x)
IdentityN()(x) = tuple(o.deepcopy(t) for t in x)
Pad(paddings)(input_x) = p.pad(input_x, paddings)
Range(maxlen=1000000)(start, end, step) = o.range(start, end, step, maxlen)
Rank()(x) = x.ndim
Reshape()(input, shape) = o.reshape(input, ints(shape))
ReverseV2(axis)(input) = o.reverse(input, axis)
Shape()(x) = x.shape
Size()(input_x) = input_x.size
Slice()(input, begin, size) = o.slice(input, ints(begin), ints(size))
SpaceToDepth(block_size)(x) = p.space_to_depth(x, block_size)
Split(axis=0, output_num=1)(input_x) = p.split(input_x, axis, output_num)
Squeeze(axis=())(input) = o.squeeze(input, None if axis == () else axis)
Stack(axis=0)(input_x) = o.stack(list(input_x), axis)
StridedSlice(begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0)(input_x, begin, end, strides) = \
strided_slice(input_x, ints(begin), ints(end), ints(strides), begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
SplitV(size_splits, split_dim, num_split)(input_x) = tuple(o.split(input_x, list(size_splits), split_dim))
Roll(shifts, dims=None)(input) = o.roll(input, shifts, dims)
Padding(pad_dim_size=8)(x) = padding(x, pad_dim_size)
PadV3(mode='constant', paddings_contiguous=True)(x, paddings, constant_value=None) = \
pad_v3(x, ints(paddings), mode, paddings_contiguous, constant_value)
MirrorPad(mode='REFLECT')(input_x, paddings) = mirror_pad(input_x, ints(paddings), mode)
SpaceToBatch(block_size, paddings)(input_x) = space_to_batch(input_x, (block_size, block_size), paddings)
SpaceToBatchND(block_shape, paddings)(input_x) = space_to_batch(input_x, block_shape, paddings)
BatchToSpace(block_size, crops)(input_x) = batch_to_space(input_x, (block_size, block_size), crops)
BatchToSpaceND(block_shape, crops)(input_x) = batch_to_space(input_x, block_shape, crops)
BatchToSpaceNDV2()(input_x, block_shape, crops) = batch_to_space(input_x, ints(block_shape), ints(crops))
DataFormatDimMap(src_format='NHWC', dst_format='NCHW')(input_x) = dim_map(input_x, src_format, dst_format)
DataFormatVecPermute(src_format='NHWC', dst_format='NCHW')(input_x) = vec_permute(input_x, src_format, dst_format)
CopyWithSlice()(x, y) = o.assign(x, y)
ParallelConcat()(values) = o.concat(list(values), 0)
TensorShape()(input_x) = Tensor(input_x.shape, int64)
Tile()(input, dims) = o.tile(input, ints(dims))
Transpose()(input, dims) = o.transpose(input, ints(dims))
Tril(diagonal=0)(x) = o.tril(x, diagonal)
Triu(diagonal=0)(input) = o.triu(input, diagonal)
Unstack(axis=0, num=None)(input_x) = unstack(input_x, axis, num)
Meshgrid(indexing='xy')(inputs) = o.meshgrid(*inputs, indexing=indexing)
ChannelShuffle(group)(x) = o.channel_shuffle(x, group)
ReverseSequence(seq_dim, batch_dim=0)(x, seq_lengths) = reverse_sequence(x, seq_lengths, seq_dim, batch_dim)

# ---- creation ----
Eye()(n, m, dtype) = o.eye(n, m, dtype)
Fill()(type, shape, value) = o.fill(type, ints(shape), value)
FillV2()(shape, value) = p.fill(ints(shape), value)
Fills()(x, value) = o.full_like(x, value)
LinSpace()(start, stop, num) = o.linspace(start, stop, int(num))
LogSpace(steps=10, base=10, dtype=float32)(start, end) = o.logspace(start, end, steps, base, dtype=dtype)
Ones()(shape, dtype=None) = o.ones(ints(shape), dtype)
OnesLike()(x) = o.ones_like(x)
ScalarToTensor()(x, dtype=float32) = o.scalar_to_tensor(x, dtype)
TupleToArray()(input_x) = p.tuple_to_array(input_x)
Zeros()(size, dtype=None) = o.zeros(ints(size), dtype)
ZerosLike()(x) = o.zeros_like(x)
OneHot(axis=-1)(indices, depth, on_value, off_value) = o.one_hot(indices, int(depth), on_value, off_value, axis)
TriuIndices(row, col, offset=0, dtype=int32)() = o.triu_indices(row, col, offset, dtype=dtype)
TrilIndices(row, col, offset=0, dtype=int32)() = o.tril_indices(row, col, offset, dtype=dtype)

# ---- gathering and scattering ----
Gather(batch_dims=0)(input_params, input_indices, axis) = o.gather(input_params, input_indices, int(axis), batch_dims)
GatherV2()(input_params, input_indices, axis) = o.gather(input_params, input_indices, int(axis))
SparseGatherV2()(input_params, input_indices, axis) = o.gather(input_params, input_indices, int(axis))
GatherD()(x, dim, index) = o.gather_d(x, int(dim), index)
GatherNd()(input_x, indices) = o.gather_nd(input_x, indices)
EmbeddingLookup()(input_params, input_indices, offset) = p.embedding_lookup(input_params, input_indices, offset)
IndexAdd(axis, use_lock=True, check_index_bound=True)(x, indices, y) = o.index_add(x, indices, y, axis, use_lock, check_index_bound)
IndexFill()(x, dim, index, value) = o.index_fill(x, int(dim), index, value)
InplaceAdd(indices)(x, input_v) = o.inplace_add(x, input_v, indices)
InplaceSub(indices)(x, input_v) = o.inplace_sub(x, input_v, indices)
InplaceUpdate(indices)(x, v) = o.inplace_update(x, v, indices)
InplaceUpdateV2()(x, indices, v) = o.inplace_update(x, v, indices)
InplaceIndexAdd(axis)(var, indices, updates) = o.inplace_index_add(var, indices, updates, axis)
InvertPermutation()(input_x) = invert_permutation(input_x)
MaskedFill()(input_x, mask, value) = o.masked_fill(input_x, mask, value)
MaskedSelect()(input, mask) = o.masked_select(input, mask)
NonZero()(input) = o.nonzero(input)
ScatterAdd(use_locking=False)(input_x, indices, updates) = o.scatter_add(input_x, indices, updates)
ScatterSub(use_locking=False)(input_x, indices, updates) = o.scatter_add(input_x, indices, o.neg(updates))
ScatterMul(use_locking=False)(input_x, indices, updates) = o.scatter_mul(input_x, indices, updates)
ScatterDiv(use_locking=False)(input_x, indices, updates) = o.scatter_div(input_x, indices, updates)
ScatterMax(use_locking=False)(input_x, indices, updates) = o.scatter_max(input_x, indices, updates)
ScatterMin(use_locking=False)(input_x, indices, updates) = o.scatter_min(input_x, indices, updates)
ScatterUpdate(use_locking=True)(input_x, indices, updates) = o.scatter_update(input_x, indices, updates)
ScatterNd()(indices, updates, shape) = o.scatter_nd(indices, updates, ints(shape))
ScatterNdAdd(use_locking=False)(input_x, indices, updates) = o.scatter_nd_add(input_x, indices, updates)
ScatterNdSub(use_locking=False)(input_x, indices, updates) = o.scatter_nd_sub(input_x, indices, updates)
ScatterNdMul(use_locking=False)(input_x, indices, updates) = o.scatter_nd_mul(input_x, indices, updates)
ScatterNdDiv(use_locking=False)(input_x, indices, updates) = o.scatter_nd_div(input_x, indices, updates)
ScatterNdMax(use_locking=False)(input_x, indices, updates) = o.scatter_nd_max(input_x, indices, updates)
ScatterNdMin(use_locking=False)(input_x, indices, updates) = o.scatter_nd_min(input_x, indices, updates)
ScatterNdUpdate(use_locking=True)(input_x, indices, updates) = p.scatter_nd_update_(input_x, indices, updates)
ScatterNonAliasingAdd()(input_x, indices, updates) = o.scatter_nd_add(input_x, indices, updates)
TensorScatterAdd()(input_x, indices, updates) = o.tensor_scatter_add(input_x, indices, updates)
TensorScatterSub()(input_x, indices, updates) = o.tensor_scatter_sub(input_x, indices, updates)
TensorScatterMul()(input_x, indices, updates) = o.tensor_scatter_mul(input_x, indices, updates)
TensorScatterDiv()(input_x, indices, updates) = o.tensor_scatter_div(input_x, indices, updates)
TensorScatterMax()(input_x, indices, updates) = o.tensor_scatter_max(input_x, indices, updates)
TensorScatterMin()(input_x, indices, updates) = o.tensor_scatter_min(input_x, indices, updates)
TensorScatterUpdate()(input_x, indices, update) = o.tensor_scatter_update(input_x, indices, update)
TensorScatterElements(axis=0, reduction='none')(data, indices, updates) = o.tensor_scatter_elements(data, indices, updates, axis, reduction)
UnsortedSegmentSum()(input_x, segment_ids, num_segments) = p.unsorted_segment(input_x, segment_ids, int(num_segments), 'add')
UnsortedSegmentMax()(input_x, segment_ids, num_segments) = p.unsorted_segment(input_x, segment_ids, int(num_segments), 'max')
UnsortedSegmentMin()(input_x, segment_ids, num_segments) = p.unsorted_segment(input_x, segment_ids, int(num_segments), 'min')
UnsortedSegmentProd()(input_x, segment_ids, num_segments) = p.unsorted_segment(input_x, segment_ids, int(num_segments), 'mul')
SegmentSum()(input_x, segment_ids) = segment(input_x, segment_ids, 'add')
SegmentMax()(input_x, segment_ids) = segment(input_x, segment_ids, 'max')
SegmentMin()(input_x, segment_ids) = segment(input_x, segment_ids, 'min')
SegmentProd()(input_x, segment_ids) = segment(input_x, segment_ids, 'mul')
SegmentMean()(input_x, segment_ids) = p.div_no_nan(segment(input_x, segment_ids, 'add'), \
segment(o.ones_like(input_x), segment_ids, 'add'))
IndexPut(accumulate=0)(x1, x2, indices) = x1.index_put(indices, x2, bool(accumulate))
MaskedScatter()(input, mask, source) = input.masked_scatter(mask, source)
UnravelIndex()(indices, dims) = unravel_index(indices, dims)
SparseToDense()(indices, values, sparse_shape) = o.scatter_nd(indices if indices.ndim > 1 else o.expand_dims(indices, -1), values, ints(sparse_shape))

# ---- order ----
Sort(axis=-1, descending=False)(x) = tuple(p.sort(x, axis, descending))
TopK(sorted=True)(input_x, k) = tuple(o.top_k(input_x, int(k), sorted))
UniqueWithPad()(x, pad_num) = tuple(o.unique_with_pad(x, pad_num))
NthElement(reverse=False)(input, n) = o.gather(o.sort(input, -1, reverse)[0], Tensor(int(n), int32), -1)
InTopK(k)(x1, x2) = o.intopk(x1, x2, k)
LowerBound(out_type=int32)(sorted_x, values) = o.cast(o.searchsorted(sorted_x, values), out_type)
UpperBound(out_type=int32)(sorted_x, values) = o.cast(o.searchsorted(sorted_x, values, right=True), out_type)
Bincount()(array, size, weights) = bincount(array, int(size), weights)
Quantile(dim=None, keep_dims=False, ignore_nan=False)(input, q) = quantile(input, q, dim, keep_dims, ignore_nan)
Unique()(input_x) = tuple(o.unique(input_x))
UniqueConsecutive(return_inverse=False, return_counts=False, dim=None)(input) = \
o.unique_consecutive(input, return_inverse, return_counts, dim)
SearchSorted(dtype=int64, right=False)(sorted_sequence, values, sorter=None) = \
o.cast(o.searchsorted(sorted_sequence, values, right=right, sorter=sorter), dtype)
Histogram(bins=100, min=0.0, max=0.0)(x) = o.cast(o.histc(x, bins, min, max), int32)
Bucketize(boundaries)(input) = o.bucketize(input, list(boundaries), right=True)

# ---- products ----
BatchMatMul(transpose_a=False, transpose_b=False)(x, y) = p.matmul(x, y, transpose_a, transpose_b, True)
MatMul(transpose_a=False, transpose_b=False)(input, mat2) = p.matmul(input, mat2, transpose_a, transpose_b, False)
Dense()(input, weight, bias=None) = o.dense(input, weight, bias)
Ger()(x1, x2) = o.ger(x1, x2)
MatrixBandPart()(x, lower, upper) = o.matrix_band_part(x, lower, upper)
Cholesky(upper=False)(input_x) = o.cholesky(input_x, upper)
CholeskyInverse(upper=False)(input_x) = o.cholesky_inverse(input_x, upper)
CholeskySolve(upper=False)(x1, x2) = o.cholesky_solve(x1, x2, upper)
Geqrf()(input) = tuple(o.geqrf(input))
LogMatrixDeterminant()(input) = tuple(o.slogdet(input))
LuSolve()(x, lu_data, lu_pivots) = o.lu_solve(x, lu_data, lu_pivots)
LuUnpack(unpack_data=True, unpack_pivots=True)(LU_data, LU_pivots) = tuple(o.lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots))
MatrixDeterminant()(input) = o.det(input)
MatrixExp()(input) = o.matrix_exp(input)
MatrixInverse(adjoint=False)(x) = o.inverse(o.conj(o.swapaxes(x, -1, -2)) if adjoint else x)
MatrixSolve(adjoint=False)(matrix, rhs) = o.matrix_solve(matrix, rhs, adjoint)
Orgqr()(x, tau) = o.orgqr(x, tau)
Ormqr(left=True, transpose=False)(x, tau, other) = o.ormqr(x, tau, other, left, transpose)
Qr(full_matrices=False)(x) = tuple(o.qr(x, 'complete' if full_matrices else 'reduced'))
Svd(full_matrices=False, compute_uv=True)(input) = svd(input, full_matrices, compute_uv)
FFTWithSize(signal_ndim, inverse, real, norm='backward', onesided=True, signal_sizes=())(x) = \
fft_with_size(x, signal_ndim, inverse, real, norm, onesided, signal_sizes)
MatrixPower(n)(x) = o.matrix_power(x, n)
BiasAdd(data_format='NCHW')(input_x, bias) = p.bias_add(input_x, bias, data_format)
Trace()(input) = o.trace(input)

# ---- neural networks ----
Conv2D(out_channel, kernel_size, mode=1, pad_mode='valid', pad=0, stride=1, dilation=1, group=1, data_format='NCHW')(x, weight) = \
conv(self, x, weight, None, 2)
DepthwiseConv2dNative(channel_multiplier, kernel_size, mode=3, pad_mode='valid', pad=0, stride=1, dilation=1, group=1)(x, weight) = \
depthwise(self, x, weight)
Conv3D(out_channel, kernel_size, mode=1, pad_mode='valid', pad=0, stride=1, dilation=1, group=1, data_format='NCDHW')(x, weight, bias=None) = \
conv(self, x, weight, bias, 3)
Conv2DBackpropInput(out_channel, kernel_size, pad_mode='valid', pad=0, pad_list=None, mode=1, stride=1, dilation=1, group=1, \
data_format='NCHW')(dout, weight, input_size) = conv_backprop_input(self, dout, weight, input_size, 2)
Conv2DTranspose(out_channel, kernel_size, pad_mode='valid', pad=0, pad_list=None, mode=1, stride=1, dilation=1, group=1, \
data_format='NCHW')(dout, weight, input_size) = conv_backprop_input(self, dout, weight, input_size, 2)
MaxPool(kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW')(x) = max_pool(self, x, 2)
MaxPoolWithArgmax(kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW')(x) = max_pool_with_index(self, x)
MaxPool3D(kernel_size=1, strides=1, pad_mode='VALID', pad_list=0, ceil_mode=None, data_format='NCDHW')(x) = max_pool(self, x, 3)
AvgPool(kernel_size=1, strides=1, pad_mode='VALID', data_format='NCHW')(x) = avg_pool(self, x, 2)
AvgPool3D(kernel_size=1, strides=1, pad_mode='valid', pad=0, ceil_mode=False, count_include_pad=True, divisor_override=0, \
data_format='NCDHW')(x) = avg_pool(self, x, 3)
AdaptiveAvgPool2D(output_size)(input_x) = o.adaptive_avg_pool2d(input_x, output_size)
AdaptiveAvgPool3D(output_size)(x) = o.adaptive_avg_pool3d(x, output_size)
AdaptiveMaxPool2D(output_size)(input) = o.adaptive_max_pool2d(input, output_size, True)
AdaptiveMaxPool3D()(x, output_size) = tuple(o.adaptive_max_pool3d(x, ints(output_size), True))
MaxPoolWithArgmaxV2(kernel_size, strides=None, pads=0, dilation=(1, 1), ceil_mode=False, argmax_type=int64)(x) = \
pool_with_index(self, x, 2, kernel_size, strides)
MaxPool3DWithArgmax(ksize, strides, pads, dilation=(1, 1, 1), ceil_mode=False, data_format='NCDHW', argmax_type=int64)(x) = \
pool_with_index(self, x, 3, ksize, strides)
Conv3DTranspose(in_channel, out_channel, kernel_size, mode=1, pad_mode='valid', pad=0, stride=1, dilation=1, group=1, output_padding=0, \
data_format='NCDHW')(dout, weight, bias=None) = conv3d_transpose(self, dout, weight, bias)
DropoutGenMask(Seed0=0, Seed1=0)(shape, keep_prob) = p.dropout_mask(ints(shape), keep_prob, own_state(self, Seed0, Seed1))
DropoutDoMask()(x, mask, keep_prob) = p.dropout_apply(x, mask, keep_prob)
ROIAlign(pooled_height, pooled_width, spatial_scale, sample_num=2, roi_end_mode=1)(features, rois) = \
p.roi_align(features, rois, pooled_height, pooled_width, spatial_scale, sample_num, roi_end_mode)
DeformableOffsets(strides, pads, ksize, dilations=(1, 1, 1, 1), data_format='NCHW', deformable_groups=1, modulated=True)(x, offsets) = \
    deformable_offsets(x, offsets, strides, pads, ksize, dilations, data_format, deformable_groups, modulated)
NonMaxSuppressionWithOverlaps()(overlaps, scores, max_output_size, overlap_threshold, score_threshold) = \
    p.nms_overlaps(overlaps, scores, int(max_output_size), float(overlap_threshold), float(score_threshold))
CropAndResize(method='bilinear', extrapolation_value=0.0)(x, boxes, box_index, crop_size) = \
p.crop_and_resize(x, boxes, box_index, ints(crop_size), method, extrapolation_value)
NMSWithMask(iou_threshold=0.5)(bboxes) = tuple(p.nms_with_mask(bboxes, iou_threshold))
IOU(mode='iou')(anchor_boxes, gt_boxes) = p.iou(anchor_boxes, gt_boxes, mode)
CheckValid()(bboxes, img_metas) = p.check_valid(bboxes, img_metas)
BoundingBoxEncode(means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0))(anchor_box, groundtruth_box) = \
p.box_encode(anchor_box, groundtruth_box, means, stds)
BoundingBoxDecode(max_shape, means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0), wh_ratio_clip=0.016)(anchor_box, deltas) = \
p.box_decode(anchor_box, deltas, max_shape, means, stds, wh_ratio_clip)
ResizeLinear1D(coordinate_transformation_mode='align_corners')(x, size) = resize_linear(x, ints(size), coordinate_transformation_mode)
BatchNorm(is_training=False, epsilon=1e-05, momentum=0.1, data_format='NCHW')(input_x, scale, bias, mean, variance) = \
tuple(p.batch_norm(input_x, scale, bias, mean, variance, is_training, epsilon, momentum, data_format))
LayerNorm(begin_norm_axis=1, begin_params_axis=1, epsilon=1e-07)(input_x, gamma, beta) = \
tuple(p.layer_norm(input_x, gamma, beta, begin_norm_axis, begin_params_axis, epsilon))
RmsNorm(epsilon=1e-06)(x, gamma) = tuple(o.rms_norm(x, gamma, epsilon))
LRN(depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region='ACROSS_CHANNELS')(x) = o.lrn(x, depth_radius, bias, alpha, beta, norm_region)
Softmax(axis=-1)(input) = softmax(input, axis)
LogSoftmax(axis=-1)(logits) = o.log_softmax(logits, axis)
GLU(axis=-1)(x) = o.glu(x, axis)
Dropout(keep_prob=0.5, Seed0=0, Seed1=0)(x) = tuple(p.dropout(x, keep_prob, -1, own_state(self, Seed0, Seed1)))
Dropout2D(keep_prob=0.5)(x) = tuple(p.dropout(x, keep_prob, 2))
Dropout3D(keep_prob=0.5)(x) = tuple(p.dropout(x, keep_prob, 2))
ResizeBicubic(align_corners=False, half_pixel_centers=False)(image, size) = p.resize(image, ints(size), 'bicubic', align_corners, half_pixel_centers)
ResizeBilinearV2(align_corners=False, half_pixel_centers=False)(image, size) = p.resize(image, ints(size), 'bilinear', align_corners, half_pixel_centers)
ResizeBilinear(size, align_corners=False, half_pixel_centers=False)(x) = p.resize(x, ints(size), 'bilinear', align_corners, half_pixel_centers)
ResizeArea(align_corners=False)(images, size) = p.resize_area(images, ints(size), align_corners)
ScaleAndTranslate(kernel_type='lanczos3', antialias=True)(images, size, scale, translation) = \
p.scale_and_translate(images, ints(size), scale, translation, kernel_type, antialias)
ExtractGlimpse(centered=True, normalized=True, uniform_noise=True, noise='uniform')(x, size, offsets) = \
p.extract_glimpse(x, ints(size), offsets, centered, normalized, noise)
ResizeNearestNeighbor(size, align_corners=False, half_pixel_centers=False)(input_x) = \
p.resize(input_x, ints(size), 'nearest', align_corners, half_pixel_centers)
ResizeNearestNeighborV2(align_corners=False, half_pixel_centers=False)(image, size) = \
p.resize(image, ints(size), 'nearest', align_corners, half_pixel_centers)

# ---- losses ----
CTCLoss(preprocess_collapse_repeated=False, ctc_merge_repeated=True, ignore_longer_outputs_than_inputs=False)\
(x, labels_indices, labels_values, sequence_length) = p.ctc_loss(x, labels_indices, labels_values, sequence_length, \
preprocess_collapse_repeated, ctc_merge_repeated, ignore_longer_outputs_than_inputs)
CTCLossV2(blank=0, reduction='none', zero_infinity=False)(log_probs, targets, input_lengths, target_lengths) = \
o.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)
CTCGreedyDecoder(merge_repeated=True)(inputs, sequence_length) = o.ctc_greedy_decoder(inputs, sequence_length, merge_repeated)
BCEWithLogitsLoss(reduction='mean')(input, target, weight=None, posWeight=None) = \
o.binary_cross_entropy_with_logits(input, target, weight, posWeight, reduction)
BinaryCrossEntropy(reduction='mean')(input, target, weight=None) = o.binary_cross_entropy(input, target, weight, reduction)
KLDivLoss(reduction='mean')(logits, labels) = o.kl_div(logits, labels, reduction)
MultiMarginLoss(p=1, margin=1.0, reduction='mean')(x, target, weight=None) = o.multi_margin_loss(x, target, p, margin, weight, reduction)
NLLLoss(reduction='mean', ignore_index=-100)(logits, labels, weight) = tuple(p.nll_loss(logits, labels, weight, reduction, ignore_index))
SigmoidCrossEntropyWithLogits()(logits, label) = p.sigmoid_cross_entropy(logits, label)
SmoothL1Loss(beta=1.0, reduction='none')(prediction, target) = o.smooth_l1_loss(prediction, target, beta, reduction)
SoftMarginLoss(reduction='mean')(input, target) = o.soft_margin_loss(input, target, reduction)
SoftmaxCrossEntropyWithLogits()(logits, labels) = tuple(p.softmax_cross_entropy(logits, labels))
SparseSoftmaxCrossEntropyWithLogits(is_grad=False)(logits, labels) = p.sparse_softmax_cross_entropy(logits, labels, is_grad)

# ---- classes over functions ----
MatrixDiagV3(align='RIGHT_LEFT')(x, k, num_rows, num_cols, padding_value) = o.matrix_diag(x, k, num_rows, num_cols, padding_value, align)
MatrixDiagPartV3(align='RIGHT_LEFT')(x, k, padding_value) = o.matrix_diag_part(x, k, padding_value, align)
MatrixSetDiagV3(align='RIGHT_LEFT')(x, diagonal, k) = o.matrix_set_diag(x, diagonal, k, align)
MatrixTriangularSolve(lower=True, adjoint=False)(matrix, rhs) = triangular_solve(matrix, rhs, lower, adjoint)
Eig(compute_v=False)(x) = eig(x, compute_v)
Lstsq(fast=True, l2_regularizer=0.0)(x, a) = o.lstsq(x, a)
Median(global_median=False, axis=0, keep_dims=False, ignore_nan=False)(x) = median(x, global_median, axis, keep_dims, ignore_nan)
Im2Col(ksizes, strides=1, dilations=1, pads=0)(x) = im2col(x, ksizes, strides, dilations, pads)
Col2Im(kernel_size, dilation=1, padding=0, stride=1)(x, output_size) = o.col2im(x, output_size, kernel_size, dilation, padding, stride)
ExtractVolumePatches(kernel_size, strides, padding)(input_x) = volume_patches(input_x, kernel_size, strides, padding)
Cdist(p=2.0)(x1, x2) = o.cdist(x1, x2, p)
Pdist(p=2.0)(x) = o.pdist(x, p)
Renorm(p, dim, maxnorm)(x) = o.renorm(x, p, dim, maxnorm)
Cross(dim=-65530)(input, other) = o.cross(input, other, None if dim == -65530 else dim)
BartlettWindow(periodic=True, dtype=float32)(window_length) = o.bartlett_window(int(window_length), periodic, dtype=dtype)
BlackmanWindow(periodic=True, dtype=float32)(window_length) = o.blackman_window(int(window_length), periodic, dtype=dtype)
HammingWindow(periodic=True, alpha=0.54, beta=0.46, dtype=float32)(length) = o.hamming_window(int(length), periodic, alpha, beta, dtype=dtype)
FillDiagonal(fill_value, wrap=False)(input_x) = o.deepcopy(input_x).fill_diagonal(fill_value, wrap)
GridSampler2D(interpolation_mode='bilinear', padding_mode='zeros', align_corners=False)(input_x, grid) = \
o.grid_sample(input_x, grid, interpolation_mode, padding_mode, align_corners)
GridSampler3D(interpolation_mode='bilinear', padding_mode='zeros', align_corners=False)(input_x, grid) = \
o.grid_sample(input_x, grid, interpolation_mode, padding_mode, align_corners)
AffineGrid(align_corners=False)(theta, output_size) = o.affine_grid(theta, ints(output_size), align_corners)
UpsampleNearest3D()(x, output_size=None, scales=None) = o.interpolate(x, output_size, scales, 'nearest')
UpsampleTrilinear3D(align_corners=False)(x, output_size=None, scales=None) = o.interpolate(x, output_size, scales, 'trilinear', align_corners)
MaxUnpool2D(ksize, strides=0, pads=0, output_shape=(), data_format='NCHW')(x, argmax) = max_unpool(self, x, argmax, 2)
MaxUnpool3D(ksize, strides=0, pads=0, output_shape=(), data_format='NCDHW')(x, argmax) = max_unpool(self, x, argmax, 3)
FractionalMaxPoolWithFixedKsize(ksize, output_shape, data_format='NCHW')(input_x, random_samples) = \
tuple(nn.fractional_max_pool(input_x, 2, ksize, output_shape, random_samples))
FractionalMaxPool3DWithFixedKsize(ksize, output_shape, data_format='NCDHW')(x, random_samples) = \
tuple(nn.fractional_max_pool(x, 3, ksize, output_shape, random_samples))
TripletMarginLoss(p=2, swap=False, eps=1e-06, reduction='mean')(x, positive, negative, margin) = \
o.triplet_margin_loss(x, positive, negative, float(margin), p, eps, swap, reduction)
Coalesce()(x_indices, x_values, x_shape) = coalesce(x_indices, x_values, x_shape)
SequenceAddN()(x) = p.add_n(list(x)) if x and isinstance(x[0], Tensor) else sum(x)
SequenceStack(axis=0)(x) = o.stack(list(x), axis)
SequenceUnstack(axis=0)(x) = o.unstack(x, axis)
ListDiff(out_idx=int32)(x, y) = list_diff(x, y, out_idx)
RGBToHSV()(images) = rgb_to_hsv(images)
HSVToRGB()(x) = hsv_to_rgb(x)
AdjustHue()(image, delta) = adjust_hsv(image, 0, delta)
AdjustSaturation()(image, scale) = adjust_hsv(image, 1, scale)
UniformCandidateSampler(num_true, num_sampled, unique, range_max, seed=0, remove_accidental_hits=False)(true_classes) = \
candidates(true_classes, num_true, num_sampled, unique, range_max, own_state(self, seed, 0), remove_accidental_hits)
LogUniformCandidateSampler(num_true=1, num_sampled=5, unique=True, range_max=5, seed=0)(true_classes) = \
log_uniform_candidates(true_classes, num_true, num_sampled, unique, range_max, own_state(self, seed, 0))
ParameterizedTruncatedNormal(seed=0, seed2=0)(shape, mean, stdevs, min, max) = \
between_normal(ints(shape), mean, stdevs, min, max, own_state(self, seed, seed2))

# ---- random ----
StandardNormal(seed=0, seed2=0)(shape) = p.draw('normal', ints(shape), own_state(self, seed, seed2))
StandardLaplace(seed=0, seed2=0)(shape) = p.draw('laplace', ints(shape), own_state(self, seed, seed2))
UniformReal(seed=0, seed2=0)(shape) = p.draw('uniform', ints(shape), own_state(self, seed, seed2))
RandomChoiceWithMask(count=256, seed=0, seed2=0)(input_x) = tuple(p.random_choice(input_x, count, own_state(self, abs(seed), abs(seed2))))
TruncatedNormal(dtype=float32, seed=0, seed2=0)(shape) = truncated_normal(ints(shape), dtype, own_state(self, seed, seed2))
Cauchy(size, median=0.0, sigma=1.0)() = cauchy(size, median, sigma)
LogNormalReverse(mean=1.0, std=2.0)(input) = o.exp(o.normal(input.shape, mean, std))
Randperm(max_length=1, pad=-1, dtype=int32)(n) = randperm(int(n), max_length, pad, dtype)
NonDeterministicInts(dtype=int64)(shape) = o.cast(o.randint(-2147483648, 2147483647, ints(shape)), dtype)
MultinomialWithReplacement(numsamples, replacement=False)(x, seed, offset) = \
o.cast(o.multinomial(o.cast(x, float32), numsamples, replacement), int64)
UniformInt(seed=0, seed2=0)(shape, minval, maxval) = p.draw_int(ints(shape), int(minval), int(maxval), own_state(self, seed, seed2), int32)
Normal(seed=0, seed2=0)(shape, mean, stddev) = p.normal(ints(shape), mean, stddev, own_state(self, seed, seed2))
Multinomial(seed=0, seed2=0, dtype=int32)(x, num_samples) = p.multinomial(x, int(num_samples), own_state(self, seed, seed2), dtype)
Bernoulli(seed=-1, offset=0)(x, p) = rows.bernoulli(x, p, own_state(self, seed + 1, offset))
RandomShuffle(seed=0, seed2=0)(x) = p.shuffle(x, own_state(self, seed, seed2))
RandomCategorical(dtype=int64)(logits, num_sample, seed=0) = o.random_categorical(logits, int(num_sample), int(seed), dtype)
RandpermV2(seed=0, offset=0, dtype=int64)(n) = p.randperm(int(n), own_state(self, seed, offset), dtype)
RandomPoisson(seed=0, seed2=0, dtype=int64)(shape, rate) = p.poisson(shape, rate, own_state(self, seed, seed2), dtype)
RandomGamma(seed=0, seed2=0)(shape, alpha) = p.gamma(shape, alpha, own_state(self, seed, seed2))
Gamma(seed=0, seed2=0)(shape, alpha, beta) = \
o.div(p.gamma((), o.broadcast_to(alpha, shape + o.add(alpha, beta).shape), own_state(self, seed, seed2)), beta)
Poisson(seed=0, seed2=0)(shape, mean) = p.poisson(shape, mean, own_state(self, seed, seed2), int32)
Uniform(minval=0.0, maxval=1.0, seed=0, offset=0)(x) = drawn_between(self, x, own_state(self, seed, offset))

# ---- state ----
Assign()(variable, value) = o.assign(variable, value)
AssignAdd()(variable, value) = o.assign_add(variable, value)
AssignSub()(variable, value) = o.assign_sub(variable, value)
ApplyGradientDescent()(var, alpha, delta) = o.assign_sub(var, o.mul(delta, alpha))
ApplyMomentum(use_nesterov=False, use_locking=False, gradient_scale=1.0)(variable, accumulation, learning_rate, gradient, momentum) = \
p.apply_momentum(variable, accumulation, learning_rate, gradient, momentum, use_nesterov, gradient_scale)
ApplyAdagrad(update_slots=True)(var, accum, lr, grad) = tuple(p.apply_adagrad(var, accum, lr, grad, update_slots))
Adam(use_locking=False, use_nesterov=False)(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient) = \
tuple(p.apply_adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient, use_nesterov))
ApplyAdam(use_locking=False, use_nesterov=False)(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient) = \
tuple(p.apply_adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient, use_nesterov))
ApplyRMSProp(use_locking=False)(var, mean_square, moment, learning_rate, grad, decay, momentum, epsilon) = \
tuple(p.apply_rms_prop(var, mean_square, moment, learning_rate, grad, decay, momentum, epsilon))

AdamNoUpdateParam(use_locking=False, use_nesterov=False)(m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient) = \
adam_change(m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient, use_nesterov)
AdamWeightDecay(use_locking=False)(var, m, v, lr, beta1, beta2, epsilon, decay, gradient) = \
tuple(p.apply('AdamWeightDecay', (var, m, v), gradient, (lr, beta1, beta2, epsilon, decay)))
ApplyAdaMax()(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad) = \
tuple(p.apply('AdaMax', (var, m, v), grad, (beta1_power, lr, beta1, beta2, epsilon)))
ApplyAdadelta()(var, accum, accum_update, lr, rho, epsilon, grad) = \
tuple(p.apply('Adadelta', (var, accum, accum_update), grad, (lr, rho, epsilon)))
ApplyAdagradDA(use_locking=False)(var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step) = \
p.apply('AdagradDA', (var, gradient_accumulator, gradient_squared_accumulator), grad, (lr, l1, l2, global_step))[0]
ApplyAdagradV2(epsilon, update_slots=True)(var, accum, lr, grad) = \
tuple(p.apply('Adagrad', (var, accum), grad, (lr, epsilon, float(update_slots))))
ApplyAdamWithAmsgrad(beta1=0.9, beta2=0.999, epsilon=1e-08, use_locking=False)(var, m, v, vhat, beta1_power, beta2_power, lr, grad) = \
tuple(p.apply('Adam', (var, m, v, vhat), grad, (beta1_power, beta2_power, lr, beta1, beta2, epsilon, 0.0)))
ApplyAdamWithAmsgradV2(use_locking=False)(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad) = \
tuple(p.apply('Adam', (var, m, v, vhat), grad, (beta1_power, beta2_power, lr, beta1, beta2, epsilon, 0.0)))
ApplyAddSign()(var, m, lr, alpha, sign_decay, beta, grad) = tuple(p.apply('AddSign', (var, m), grad, (lr, alpha, sign_decay, beta)))
ApplyPowerSign()(var, m, lr, logbase, sign_decay, beta, grad) = tuple(p.apply('PowerSign', (var, m), grad, (lr, logbase, sign_decay, beta)))
ApplyCenteredRMSProp(use_locking=False)(var, mean_gradient, mean_square, moment, grad, learning_rate, decay, momentum, epsilon) = \
p.apply('CenteredRMSProp', (var, mean_gradient, mean_square, moment), grad, (learning_rate, decay, momentum, epsilon))[0]
ApplyFtrl(use_locking=False)(var, accum, linear, grad, lr, l1, l2, lr_power) = \
p.apply('Ftrl', (var, accum, linear), grad, (lr, l1, l2, lr_power, 0.0))[0]
ApplyKerasMomentum(use_locking=False, use_nesterov=False)(var, accum, lr, grad, momentum) = \
tuple(p.apply('KerasMomentum', (var, accum), grad, (lr, momentum, float(use_nesterov))))
ApplyProximalAdagrad(use_locking=False)(var, accum, lr, l1, l2, grad) = tuple(p.apply('ProximalAdagrad', (var, accum), grad, (lr, l1, l2)))
ApplyProximalGradientDescent()(var, alpha, l1, l2, delta) = p.apply('ProximalGradientDescent', (var,), delta, (alpha, l1, l2))[0]
SGD(dampening=0.0, weight_decay=0.0, nesterov=False)(parameters, gradient, learning_rate, accum, momentum, stat) = \
p.apply('SGD', (parameters, accum, stat), gradient, (learning_rate, momentum, dampening, weight_decay, float(nesterov)))[0]
FusedSparseAdam(use_locking=False, use_nesterov=False)(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient, indices) = \
tuple(p.apply('Adam', (var, m, v), sparse_gradient(var, gradient, indices), \
(beta1_power, beta2_power, lr, beta1, beta2, epsilon, float(use_nesterov))))
FusedSparseLazyAdam(use_locking=False, use_nesterov=False)(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient, indices) = \
tuple(p.apply('Adam', (var, m, v), gradient, (beta1_power, beta2_power, lr, beta1, beta2, epsilon, float(use_nesterov)), indices))
FusedSparseFtrl(lr, l1, l2, lr_power, use_locking=False)(var, accum, linear, grad, indices) = \
tuple(p.apply('Ftrl', (var, accum, linear), grad, (lr, l1, l2, lr_power, 0.0), indices))
FusedSparseProximalAdagrad(use_locking=False)(var, accum, lr, l1, l2, grad, indices) = \
tuple(p.apply('ProximalAdagrad', (var, accum), grad, (lr, l1, l2), indices))
SparseApplyAdadelta(epsilon, use_locking=False)(var, accum, accum_update, lr, rho, grad, indices) = \
tuple(p.apply('Adadelta', (var, accum, accum_update), grad, (lr, rho, epsilon), indices))
SparseApplyAdagrad(lr, update_slots=True, use_locking=False)(var, accum, grad, indices) = \
tuple(p.apply('Adagrad', (var, accum), grad, (lr, 0.0, float(update_slots)), indices))
SparseApplyAdagradV2(lr, epsilon, use_locking=False, update_slots=True)(var, accum, grad, indices) = \
tuple(p.apply('Adagrad', (var, accum), grad, (lr, epsilon, float(update_slots)), indices))
SparseApplyFtrl(lr, l1, l2, lr_power, use_locking=False)(var, accum, linear, grad, indices) = \
tuple(p.apply('Ftrl', (var, accum, linear), grad, (lr, l1, l2, lr_power, 0.0), indices))
SparseApplyFtrlV2(lr, l1, l2, l2_shrinkage, lr_power, use_locking=False)(var, accum, linear, grad, indices) = \
tuple(p.apply('Ftrl', (var, accum, linear), grad, (lr, l1, l2, lr_power, l2_shrinkage), indices))
SparseApplyProximalAdagrad(use_locking=False)(var, accum, lr, l1, l2, grad, indices) = \
tuple(p.apply('ProximalAdagrad', (var, accum), grad, (lr, l1, l2), indices))
SparseApplyRMSProp(rho, momentum, epsilon, use_locking=False)(var, ms, mom, lr, grad, indices) = \
tuple(p.apply('RMSProp', (var, ms, mom), grad, (lr, rho, momentum, epsilon), indices))


# ---- control and devices ----
Depend()(value, expr) = value
Load()(value, u=None) = value
MakeTuple()(*x) = x
TupleToTensor()(input_tuple, dtype=None) = Tensor(input_tuple, dtype)
TensorToTuple()(x) = tuple(x.asnumpy().tolist())
StopGradient()(value) = o.stop_gradient(value)
NPUAllocFloatStatus()() = o.zeros((8,), float32)
NPUGetFloatStatus()(x) = x
NPUClearFloatStatus()(x) = x
Reusing()(x) = x
Merge()(inputs) = merge(inputs)
MoveTo()(input, to='CPU', blocking=True) = move_to(input, to)

# ---- collectives: a group has one member, see mindspore.communication ----
AllGather(group='hccl_world_group')(input_x) = alone(group, o.deepcopy(input_x))
AllGatherV(group='hccl_world_group')(input_x, output_split_sizes) = alone(group, o.deepcopy(input_x))
AllReduce(op='sum', group='hccl_world_group')(input_x) = alone(group, o.deepcopy(input_x), op)
AlltoAll(split_count, split_dim, concat_dim, group='hccl_world_group')(input_x) = \
alone(group, o.deepcopy(input_x), sizes=(split_count,))
AlltoAllV(group='hccl_world_group', block_size=1)(input_x, send_numel_list, recv_numel_list) = alone(group, o.deepcopy(o.reshape(input_x, (-1,))))
AlltoAllVC(group='hccl_world_group', block_size=1, transpose=False)(input_x, send_count_matrix) = alone(group, o.deepcopy(o.reshape(input_x, (-1,))))
AllSwap(group='hccl_world_group')(input_x) = alone(group, o.deepcopy(input_x))
Barrier(group='hccl_world_group')() = alone(group, None)
Broadcast(root_rank, group='hccl_world_group')(input_x) = alone(group, tuple(o.deepcopy(t) for t in input_x), root=root_rank)
CollectiveGather(dest_rank, group='hccl_world_group')(input_x) = alone(group, o.deepcopy(input_x), root=dest_rank)
CollectiveScatter(src_rank=0, group='hccl_world_group')(input_x) = alone(group, o.deepcopy(input_x), root=src_rank)
Reduce(dest_rank, op='sum', group='hccl_world_group')(input_x) = alone(group, o.deepcopy(input_x), op, root=dest_rank)
ReduceScatter(op='sum', group='hccl_world_group')(input_x) = alone(group, o.deepcopy(input_x), op)
ReduceScatterV(op='sum', group='hccl_world_group')(input_x, input_split_sizes) = alone(group, o.deepcopy(input_x), op)
NeighborExchange(send_rank_ids, recv_rank_ids, recv_shapes, send_shapes, recv_type, group='hccl_world_group')(tensor) = \
alone(group, tuple(o.deepcopy(t) for t in tensor), root=(*send_rank_ids, *recv_rank_ids))

# ---- inner ----
ConvertToDynamic(is_dynamic_rank=False)(x) = o.deepcopy(x)
GpuConvertToDynamicShape()(x) = o.deepcopy(x)
DynamicBroadcastTo()(x, shape) = o.broadcast_to(x, ints(shape))
DynamicBroadcastGradientArgs()(s0, s1) = broadcast_axes(ints(s0), ints(s1))
ConcatOffset(N=2, axis=0)(input_x) = concat_offset(input_x, axis)

AddV2()(x, y) = o.add(x, y)
ClipByNorm(axis=None)(x, clip_norm) = clip_by_norm(x, clip_norm, axis)

# ---- gradients: of the output's cotangent, of the input unless it says y, the output ----
ACosGrad()(x, dout) = vjp(o.acos, dout, x)
AbsGrad()(x, dout) = vjp(o.abs, dout, x)
AcoshGrad()(y, dout) = o.div(dout, o.sinh(y))
AsinGrad()(x, dout) = vjp(o.asin, dout, x)
AsinhGrad()(y, dout) = o.div(dout, o.cosh(y))
AtanGrad()(x, dout) = o.div(dout, o.conj(o.square(x) + 1) if x.is_complex() else o.square(x) + 1)
AvgPoolGrad(kernel_size=1, strides=1, pad_mode='VALID', data_format='NCHW')(x, out, dout) = vjp(lambda t: avg_pool(self, t, 2), dout, x)
BatchNormGrad(is_training=False, epsilon=1e-05, data_format='NCHW')(y_backprop, x, scale, reserve_space_1, reserve_space_2, reserve_space_3=None) = \
batch_norm_grad(self, y_backprop, x, scale, reserve_space_1, reserve_space_2)
BiasAddGrad(data_format='NCHW')(dout) = p.reduce_sum(dout, tuple(d for d in range(dout.ndim) if d != (1 if data_format[1] == 'C' else dout.ndim - 1)))
BinaryCrossEntropyGrad(reduction='mean')(input, target, dout, weight=None) = \
vjp(lambda t: o.binary_cross_entropy(t, target, weight, reduction), dout, input)
CeLUGrad(alpha=1.0)(x, dout) = vjp(lambda t: o.celu(t, alpha), dout, x)
Conv2DBackpropFilter(out_channel, kernel_size, pad_mode='valid', pad=0, pad_list=(0, 0, 0, 0), mode=1, stride=1, dilation=1, group=1, \
data_format='NCHW')(dout, input, filter_size) = \
vjp(lambda w: conv(self, input, w, None, 2), dout, o.zeros(ints(filter_size), input.dtype))
DropoutGrad(keep_prob=0.5)(dy, mask) = o.div(o.mul(dy, o.cast(mask, dy.dtype)), keep_prob)
EluGrad()(dout, out) = o.mul(dout, o.where(out > 0, Tensor(1, out.dtype), out + 1))
FastGeLUGrad()(dy, x) = vjp(o.fast_gelu, dy, x)
FlattenGrad()(dout, x_shape) = o.reshape(dout, ints(x_shape))
GatherDGradV2()(x, dim, index, dout) = vjp(lambda t: o.gather_d(t, int(dim), index), dout, x)
GeLUGrad()(dy, x, y) = vjp(lambda t: o.gelu(t, 'tanh'), dy, x)
GridSampler2DGrad(interpolation_mode='bilinear', padding_mode='zeros', align_corners=False, output_mask=(True, True))(grad, input_x, grid) = \
vjp(lambda t, g: o.grid_sample(t, g, interpolation_mode, padding_mode, align_corners), grad, input_x, grid)
GridSampler3DGrad(interpolation_mode='bilinear', padding_mode='zeros', align_corners=False, output_mask=(True, True))(grad, input_x, grid) = \
vjp(lambda t, g: o.grid_sample(t, g, interpolation_mode, padding_mode, align_corners), grad, input_x, grid)
HShrinkGrad(lambd=0.5)(gradients, features) = vjp(lambda t: o.hardshrink(t, lambd), gradients, features)
HSigmoidGrad()(grads, input_x) = vjp(o.hardsigmoid, grads, input_x)
HSwishGrad()(y_grad, x) = vjp(o.hardswish, y_grad, x)
InvGrad()(y, dout) = o.neg(o.mul(dout, o.square(y)))
KLDivLossGrad(reduction='mean')(grad, input, target) = vjp(lambda t: o.kl_div(t, target, reduction), grad, input)
L2NormalizeGrad(axis=0, epsilon=0.0001)(input_x, out, dout) = vjp(lambda t: p.l2_normalize(t, axis, epsilon), dout, input_x)
LRNGrad(depth_radius=5, bias=1.0, alpha=1.0, beta=0.5)(dout, x, out) = vjp(lambda t: o.lrn(t, depth_radius, bias, alpha, beta), dout, x)
LayerNormGrad(begin_norm_axis=1, begin_params_axis=1)(x, dy, variance, mean, gamma) = layer_norm_grad(self, x, dy, variance, mean, gamma)
LeakyReLUGrad()(dy, input, negative_slope=0.01, is_result=False) = vjp(lambda t: o.leaky_relu(t, negative_slope), dy, input)
LogSoftmaxGrad(axis=-1)(y, dout) = o.sub(dout, o.mul(o.exp(y), p.reduce_sum(dout, axis, True)))
MaxPoolGrad(kernel_size=1, strides=1, pad_mode='VALID', data_format='NCHW')(x, out, dout) = vjp(lambda t: max_pool(self, t, 2), dout, x)
MaxPool3DGrad(kernel_size=(1, 1, 1, 1, 1), strides=(1, 1, 1, 1, 1), pad_mode='VALID', pad_list=0, data_format='NCDHW')(x, out, dout) = \
vjp(lambda t: max_pool(self, t, 3), dout, x)
MaxPoolGradWithArgmax(kernel_size=1, strides=1, pad_mode='VALID', data_format='NCHW')(x, dout, argmax) = p.max_pool_grad(x, dout, o.floor_mod(argmax, x.shape[2] * x.shape[3]))
MaxPoolGradWithArgmaxV2(kernel_size, strides=None, pads=0, dilation=(1, 1), ceil_mode=False, argmax_type=int64)(x, dout, argmax) = \
p.max_pool_grad(x, dout, argmax)
MaximumGrad(grad_x=True, grad_y=True)(x, y, dout) = vjp(o.maximum, dout, x, y)
MinimumGrad(grad_x=True, grad_y=True)(x, y, dout) = vjp(o.minimum, dout, x, y)
MirrorPadGrad(mode='REFLECT')(dout, paddings) = mirror_pad_grad(dout, ints(paddings), mode)
NLLLossGrad(reduction='mean', ignore_index=-100)(logits, loss_grad, labels, weight, total_weight) = \
vjp(lambda t: p.nll_loss(t, labels, weight, reduction, ignore_index)[0], loss_grad, logits)
PReLUGrad()(y_backprop, x, weight) = vjp(o.prelu, y_backprop, x, weight)
ROIAlignGrad(pooled_height, pooled_width, spatial_scale, sample_num=2)(dout, rois, xdiff_shape) = \
vjp(lambda t: p.roi_align(t, rois, pooled_height, pooled_width, spatial_scale, sample_num, 1), dout, o.zeros(ints(xdiff_shape), dout.dtype))
ReLU6Grad()(dout, x) = o.mul(dout, o.cast(o.logical_and(x > 0, x <= 6), dout.dtype))
ReciprocalGrad()(y, dout) = o.neg(o.mul(dout, o.square(y)))
ReluGrad()(dout, x) = vjp(o.relu, dout, x)
ResizeBilinearGrad(align_corners=False, half_pixel_centers=False)(grads, image) = \
vjp(lambda t: p.resize(t, tuple(grads.shape[2:]), 'bilinear', align_corners, half_pixel_centers), grads, image)
ResizeNearestNeighborGrad(align_corners=False)(grads, size) = resize_grad(grads, ints(size), 'nearest', align_corners, False)
ResizeNearestNeighborV2Grad(align_corners=False, half_pixel_centers=False)(grads, size) = \
resize_grad(grads, ints(size), 'nearest', align_corners, half_pixel_centers)
RsqrtGrad()(y, dout) = o.mul(o.mul(dout, -0.5), o.mul(y, o.square(y)))
SeLUGrad()(dout, y) = o.mul(dout, o.where(y > 0, Tensor(1.0507009873554805, y.dtype), y + 1.7580993408473768))
SiLUGrad()(dout, x) = vjp(o.silu, dout, x)
SigmoidCrossEntropyWithLogitsGrad()(x, y, dout) = vjp(lambda t: p.sigmoid_cross_entropy(t, y), dout, x)
SigmoidGrad()(y, dy) = o.mul(dy, o.mul(y, o.sub(1, y)))
SliceGrad()(dy, x, begin, size) = vjp(lambda t: o.slice(t, ints(begin), ints(size)), dy, x)
SmoothL1LossGrad(beta=1.0, reduction='none')(prediction, target, dout) = \
vjp(lambda t: o.smooth_l1_loss(t, target, beta, reduction), dout, prediction)
SoftShrinkGrad(lambd=0.5)(input_grad, input_x) = vjp(lambda t: o.softshrink(t, lambd), input_grad, input_x)
SoftMarginLossGrad(reduction='mean')(predict, label, dout) = vjp(lambda t: o.soft_margin_loss(t, label, reduction), dout, predict)
SoftplusGrad()(dout, x) = vjp(o.softplus, dout, x)
SqrtGrad()(y, dout) = o.div(o.mul(dout, 0.5), y)
StridedSliceGrad(begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0)(dy, shapex, begin, end, strides) = \
vjp(lambda t: strided_slice(t, ints(begin), ints(end), ints(strides), begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask), \
dy, o.zeros(ints(shapex), dy.dtype))
TanhGrad()(y, dy) = o.mul(dy, o.sub(1, o.square(y)))
""".replace("\\\n", "")
