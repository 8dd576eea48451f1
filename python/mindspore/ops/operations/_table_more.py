"""Further lines of the table: sparse and ragged tensors, sequences of numbers, windows, recurrent networks, matrices, gradients."""

MORE = """
# ---- sparse tensors ----
SparseAdd()(x1_indices, x1_values, x1_shape, x2_indices, x2_values, x2_shape, thresh) = \
sparse_add(x1_indices, x1_values, x1_shape, x2_indices, x2_values, x2_shape, thresh)
SparseAddmm()(x1_indices, x1_values, x1_shape, x2, x3, alpha, beta) = sparse_addmm(x1_indices, x1_values, x1_shape, x2, x3, alpha, beta)
Sspaddmm()(x1_indices, x1_values, x1_shape, x2_indices, x2_values, x2_shape, x3_dense, alpha, beta) = \
sspaddmm(x1_indices, x1_values, x1_shape, x2_indices, x2_values, x2_shape, x3_dense, alpha, beta)
SparseConcat(concat_dim=0)(sp_input_indices, sp_input_values, sp_input_shape) = sparse_concat(sp_input_indices, sp_input_values, sp_input_shape, concat_dim)
SparseDenseCwiseAdd()(x1_indices, x1_values, x1_shape, x2) = sparse_cwise(x1_indices, x1_values, x1_shape, x2, o.add)
SparseDenseCwiseMul()(x1_indices, x1_values, x1_shape, x2) = sparse_cwise(x1_indices, x1_values, x1_shape, x2, o.mul)
SparseDenseCwiseDiv()(x1_indices, x1_values, x1_shape, x2) = sparse_cwise(x1_indices, x1_values, x1_shape, x2, p.div)
SparseFillEmptyRows()(indices, values, dense_shape, default_value) = sparse_fill_empty_rows(indices, values, dense_shape, default_value)
SparseFillEmptyRowsGrad()(reverse_index_map, grad_values) = sparse_fill_empty_rows_grad(reverse_index_map, grad_values)
SparseReorder()(indices, values, shape) = sparse_reorder(indices, values, shape)
SparseReshape()(indices, shape, new_shape) = sparse_reshape(indices, shape, new_shape)
SparseSegmentSum()(x, indices, segment_ids) = sparse_segment(x, indices, segment_ids, 'sum')
SparseSegmentMean()(x, indices, segment_ids) = sparse_segment(x, indices, segment_ids, 'mean')
SparseSegmentSqrtN()(x, indices, segment_ids) = sparse_segment(x, indices, segment_ids, 'sqrt')
SparseSegmentSumWithNumSegments()(x, indices, segment_ids, num_segments) = sparse_segment(x, indices, segment_ids, 'sum', num_segments)
SparseSegmentMeanWithNumSegments()(x, indices, segment_ids, num_segments) = sparse_segment(x, indices, segment_ids, 'mean', num_segments)
SparseSegmentSqrtNWithNumSegments()(x, indices, segment_ids, num_segments) = sparse_segment(x, indices, segment_ids, 'sqrt', num_segments)
SparseSegmentSumGrad()(grad, indices, segment_ids, output_dim0) = sparse_segment_grad(grad, indices, segment_ids, output_dim0, 'sum')
SparseSegmentMeanGrad()(x, indices, segment_ids, output_dim0) = sparse_segment_grad(x, indices, segment_ids, output_dim0, 'mean')
SparseSegmentSqrtNGrad()(x, indices, segment_ids, output_dim0) = sparse_segment_grad(x, indices, segment_ids, output_dim0, 'sqrt')
SparseSlice()(indices, values, shape, start, size) = sparse_slice(indices, values, shape, start, size)
SparseSliceGrad()(backprop_val_grad, indices, start, new_indices) = sparse_slice_grad(backprop_val_grad, indices, start, new_indices)
SparseSoftmax()(indices, values, shape) = sparse_softmax(indices, values, shape)
SparseSparseMaximum()(x1_indices, x1_values, x1_shape, x2_indices, x2_values, x2_shape) = \
sparse_extremum(x1_indices, x1_values, x1_shape, x2_indices, x2_values, x2_shape, o.maximum)
SparseSparseMinimum()(x1_indices, x1_values, x1_shape, x2_indices, x2_values, x2_shape) = \
sparse_extremum(x1_indices, x1_values, x1_shape, x2_indices, x2_values, x2_shape, o.minimum)
SparseSplit(num_split=1)(split_dim, indices, values, shape) = sparse_split(split_dim, indices, values, shape, num_split)
SparseToDenseV2(validate_indices=True)(indices, output_shape, values, default_value) = \
sparse_to_dense(indices, output_shape, values, default_value, validate_indices)
SparseCountSparseOutput(binary_output=False, minlength=-1, maxlength=-1)(indices, values, dense_shape, weights) = \
sparse_count(indices, values, dense_shape, weights, binary_output, minlength, maxlength)
SetSize(validate_indices=True)(set_indices, set_values, set_shape) = set_size(set_indices, set_values, set_shape, validate_indices)
SparseTensorToCSRSparseMatrix()(x_indices, x_values, x_dense_shape) = csr_from_coo(x_indices, x_values, x_dense_shape)
CSRSparseMatrixToSparseTensor()(x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values) = \
csr_to_coo(x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values)
CSRSparseMatrixToDense()(x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values) = \
csr_to_dense(x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values)
DenseToCSRSparseMatrix()(dense_input, indices) = csr_from_dense(dense_input, indices)
SparseMatrixAdd()(x1_dense_shape, x1_batch_pointers, x1_row_pointers, x1_col_indices, x1_values, x2_dense_shape, x2_batch_pointers, \
x2_row_pointers, x2_col_indices, x2_values, alpha, beta) = csr_add(x1_dense_shape, x1_batch_pointers, x1_row_pointers, x1_col_indices, \
x1_values, x2_dense_shape, x2_batch_pointers, x2_row_pointers, x2_col_indices, x2_values, alpha, beta)
SparseMatrixMatMul(transpose_x1=False, transpose_x2=False, adjoint_x1=False, adjoint_x2=False, transpose_output=False, conjugate_output=False)\
(x1_dense_shape, x1_batch_pointers, x1_row_pointers, x1_col_indices, x1_values, x2_dense) = \
csr_matmul(x1_dense_shape, x1_batch_pointers, x1_row_pointers, x1_col_indices, x1_values, x2_dense, self)
SparseMatrixSparseMatMul(transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False)\
(x1_dense_shape, x1_batch_pointers, x1_row_pointers, x1_col_indices, x1_values, x2_dense_shape, x2_batch_pointers, x2_row_pointers, \
x2_col_indices, x2_values) = csr_sparse_matmul(x1_dense_shape, x1_batch_pointers, x1_row_pointers, x1_col_indices, x1_values, \
x2_dense_shape, x2_batch_pointers, x2_row_pointers, x2_col_indices, x2_values, self)
SparseMatrixNNZ()(x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values) = \
csr_nnz(x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values)
SparseMatrixSoftmax(dtype)(x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values) = \
csr_softmax(x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values)
SparseMatrixTranspose(conjugate=False)(x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values) = \
csr_transpose(x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values, conjugate)
CSR2COO()(indptr, nnz) = csr_rows(indptr, nnz)
COO2CSR()(row_indices, height) = csr_pointers(row_indices, height)
CSRMul()(indptr, indices, values, shape, dense_tensor) = csr_elements(indptr, indices, values, shape, dense_tensor, o.mul)
CSRDiv()(indptr, indices, values, shape, dense_tensor) = csr_elements(indptr, indices, values, shape, dense_tensor, o.div)
CSRMV()(indptr, indices, values, shape, dense_tensor) = csr_mv(indptr, indices, values, shape, dense_tensor)
CSRMM()(indptr, indices, values, shape, dense) = csr_mv(indptr, indices, values, shape, dense)
CSRGather()(indptr, indices, dense, sparse_shape) = csr_gather(indptr, indices, dense, sparse_shape)
CSRReduceSum()(indptr, indices, values, shape, axis) = csr_reduce(indptr, indices, values, shape, axis)
RaggedTensorToSparse(Tsplits)(rt_nested_splits, rt_dense_values) = ragged_to_sparse(rt_nested_splits, rt_dense_values)
RaggedTensorToTensor(row_partition_types)(shape, values, default_value, row_partition_tensors) = \
ragged_to_tensor(shape, values, default_value, row_partition_tensors, row_partition_types)

# ---- Python numbers and sequences ----
ScalarAdd()(x, y) = x + y
ScalarSub()(x, y) = x - y
ScalarMul()(x, y) = x * y
ScalarDiv()(x, y) = x / y
ScalarFloorDiv()(x, y) = x // y
ScalarMod()(x, y) = x % y
ScalarPow()(x, y) = x ** y
ScalarEq()(x, y) = x == y
ScalarGe()(x, y) = x >= y
ScalarGt()(x, y) = x > y
ScalarLe()(x, y) = x <= y
ScalarLt()(x, y) = x < y
bit_and()(x, y) = x & y
bit_or()(x, y) = x | y
tuple_equal()(x, y) = tuple(x) == tuple(y)
tuple_greater_than()(x, y) = tuple(x) > tuple(y)
tuple_greater_equal()(x, y) = tuple(x) >= tuple(y)
tuple_lt()(x, y) = tuple(x) < tuple(y)
tuple_le()(x, y) = tuple(x) <= tuple(y)
list_equal()(x, y) = list(x) == list(y)
list_greater_than()(x, y) = list(x) > list(y)
list_greater_equal()(x, y) = list(x) >= list(y)
list_lt()(x, y) = list(x) < list(y)
list_le()(x, y) = list(x) <= list(y)
ScalarUadd()(x) = x
ScalarUsub()(x) = -x
ScalarBool()(x) = bool(x)
ScalarMax()(*x) = max(x)
ScalarMin()(*x) = min(x)
ScalarLog()(x) = math.log(x)
bool_not()(x) = not x
sequence_len()(x) = len(x)
shape_mul()(input_data) = math.prod(input_data)
make_range()(*limits) = tuple(range(*limits))
SequenceAdd()(x, y) = x + y
SequenceAddOffset()(x, y) = (0, len(x))
SequenceCount()(sequence, target) = sequence_count(sequence, target)
SequenceIndex()(sequence, target, start=None, end=None) = list(sequence).index(target, 0 if start is None else start, len(sequence) if end is None else end)
SequenceMax()(x) = max(x)
SequenceMin()(x) = min(x)
SequenceMul()(sequence, scalar) = sequence * scalar
SequenceSlice()(sequence, start, stop, step) = sequence[start:stop:step]
SequenceSliceSetItem()(target, values, start, stop, step) = type(target)(sequence_with(target, slice(start, stop, step), values))
SequenceZerosLike()(x) = type(x)([o.zeros_like(v) if isinstance(v, Tensor) else type(v)(0) for v in x])
InSequence()(target, sequence) = sequence_count(sequence, target) > 0
ListAppend()(x, value) = [*x, value]
ListInsert()(x, index, value) = [*x[:index], value, *x[index:]]
ListToTensor()(x, dtype=None) = Tensor(list(x), dtype)
TensorToList()(x) = x.asnumpy().tolist()
TensorToScalar()(x) = x.item()

# ---- optimizers of slices ----
SparseApplyCenteredRMSProp(use_locking=False)(var, mg, ms, mom, lr, rho, momentum, epsilon, grad, indices) = \
p.apply('CenteredRMSProp', (var, mg, ms, mom), grad, (lr, rho, momentum, epsilon), indices)[0]
SparseApplyMomentum(use_locking=False, use_nesterov=False)(var, accum, lr, grad, indices, momentum) = \
p.apply('SGD', (var, accum, o.zeros_like(var)), grad, (lr, momentum, 0.0, 0.0, float(use_nesterov)), indices)[0]
SparseApplyAdagradDA(use_locking=False)(var, grad_accum, grad_square_accum, grad, indices, lr, l1, l2, global_step) = \
p.apply('AdagradDA', (var, grad_accum, grad_square_accum), grad, (lr, l1, l2, global_step), indices)[0]
SparseApplyProximalGradientDescent(use_locking=False)(var, alpha, l1, l2, grad, indices) = \
p.apply('ProximalGradientDescent', (var,), grad, (alpha, l1, l2), indices)[0]
CropAndResizeGradImage(T, method='bilinear')(grads, boxes, box_index, image_size) = \
vjp(lambda t: p.crop_and_resize(t, boxes, box_index, tuple(grads.shape[1:3]), method, 0.0), grads, o.zeros(ints(image_size), T))
CropAndResizeGradBoxes(method='bilinear')(grads, images, boxes, box_index) = \
vjp(lambda t: p.crop_and_resize(images, t, box_index, tuple(grads.shape[1:3]), method, 0.0), grads, boxes)
AvgPool3DGrad(kernel_size=1, strides=1, pads=0, ceil_mode=False, count_include_pad=True, divisor_override=0, data_format='NCDHW', pad_mode='pad')\
(origin_input_shape, grads) = vjp(lambda t: avg_pool_3d(self, t), grads, o.zeros(ints(origin_input_shape), grads.dtype))
Conv3DBackpropInput(out_channel, kernel_size, mode=1, pad_mode='valid', pad=0, stride=1, dilation=1, group=1, data_format='NCDHW')\
(weight, dout, input_size) = vjp(lambda t: conv(self, t, weight, None, 3), dout, o.zeros(ints(input_size), dout.dtype))
Conv3DBackpropFilter(out_channel, kernel_size, mode=1, pad_mode='valid', pad=0, stride=(1, 1, 1, 1, 1), dilation=(1, 1, 1, 1, 1), group=1, \
data_format='NCDHW')(x, dout, filter_size) = vjp(lambda t: conv(self, x, t, None, 3), dout, o.zeros(ints(filter_size), dout.dtype))
UpsampleNearest3DGrad()(dy, input_size, output_size=None, scales=None) = \
vjp(lambda t: o.interpolate(t, output_size, scales, 'nearest'), dy, o.zeros(ints(input_size), dy.dtype))
UpsampleTrilinear3DGrad(align_corners=False)(dy, input_size, output_size=None, scales=None) = \
vjp(lambda t: o.interpolate(t, output_size, scales, 'trilinear', align_corners), dy, o.zeros(ints(input_size), dy.dtype))
DenseToSparseSetOperation(set_operation='a-b', validate_indices=True)(x1, x2_indices, x2_values, x2_shape) = \
dense_sparse_sets(x1, x2_indices, x2_values, x2_shape, set_operation, validate_indices)
MapUniform()(input, per_group_size, group_num) = map_uniform(input, per_group_size, group_num)
NoRepeatNGram(ngram_size=1)(state_seq, log_probs) = no_repeat_ngram(state_seq, log_probs, ngram_size)
SubAndFilter()(input_x, max_num, offset) = sub_and_filter(input_x, int(max_num), int(offset))
DenseToDenseSetOperation(set_operation='a-b', validate_indices=True)(x1, x2) = dense_sets(x1, x2, set_operation)

# ---- windows and regions ----
PSROIPooling(spatial_scale, group_size, output_dim)(features, rois) = ps_roi_pooling(self, features, rois)
PSROIPoolingGrad(input_size, spatial_scale, group_size, output_dim)(dy, rois) = ps_roi_pooling_grad(self, dy, rois)
FractionalMaxPool(pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0, seed2=0)(x) = fractional_pool(x, self, 'max')
FractionalAvgPool(pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0, seed2=0)(x) = fractional_pool(x, self, 'avg')
FractionalMaxPoolGrad(overlapping=False)(orig_input, orig_output, out_backprop, row_pooling_sequence, col_pooling_sequence) = \
fractional_pool_grad(orig_input.shape, out_backprop, row_pooling_sequence, col_pooling_sequence, overlapping, 'max', orig_input)
FractionalAvgPoolGrad(overlapping=False)(orig_input_tensor_shape, out_backprop, row_pooling_sequence, col_pooling_sequence) = \
fractional_pool_grad(ints(orig_input_tensor_shape), out_backprop, row_pooling_sequence, col_pooling_sequence, overlapping, 'avg')
FractionalMaxPoolGradWithFixedKsize(data_format='NCHW')(origin_input, out_backprop, argmax) = p.max_pool_grad(origin_input, out_backprop, argmax)
FractionalMaxPool3DGradWithFixedKsize(data_format='NCDHW')(origin_input, out_backprop, argmax) = p.max_pool_grad(origin_input, out_backprop, argmax)
Dilation2D(stride, dilation, pad_mode='SAME', data_format='NCHW')(x, filter) = dilation2d(x, filter, self)
Dilation2DBackpropInput(stride, dilation, pad_mode='SAME', data_format='NCHW')(x, filter, out_backprop) = \
vjp(lambda t: dilation2d(t, filter, self), out_backprop, x)
Dilation2DBackpropFilter(stride, dilation, pad_mode='SAME', data_format='NCHW')(x, filter, out_backprop) = \
vjp(lambda t: dilation2d(x, t, self), out_backprop, filter)
DeformableOffsetsGrad(strides, pads, kernel_size, dilations=(1, 1, 1, 1), data_format='NCHW', deformable_groups=1, modulated=True)(dout, input, offsets) = \
deformable_offsets_grad(dout, input, offsets, self)
CombinedNonMaxSuppression(pad_per_class=False, clip_boxes=True)(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, \
score_threshold) = combined_nms(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, score_threshold, pad_per_class, clip_boxes)
NonMaxSuppressionV3()(boxes, scores, max_output_size, iou_threshold, score_threshold) = nms_v3(boxes, scores, max_output_size, iou_threshold, score_threshold)
AdjustContrastv2()(images, contrast_factor) = ((images - o.mean(images, (-3, -2), True)) * contrast_factor + o.mean(images, (-3, -2), True)).astype(images.dtype)

# ---- recurrent networks, sequences ----
LSTM(input_size, hidden_size, num_layers, has_bias, bidirectional, dropout, proj_size=0)(input, h, c, w) = lstm(self, input, h, c, w)
GRUV2(input_size, hidden_size, num_layers, has_bias, bidirectional, dropout, is_train=True)(input, h, w, seq_lengths) = gru_v2(self, input, h, w, seq_lengths)
GRUV2Grad(input_size, hidden_size, num_layers, has_bias, bidirectional, dropout)(x, h, w, seq_lengths, y, hy, dy, dhy, reserve) = \
second_gradient(lambda a, b, c: gru_v2(self, a, b, c, seq_lengths)[:2], (dy, dhy), x, h, w)
EditDistance(normalize=True)(hypothesis_indices, hypothesis_values, hypothesis_shape, truth_indices, truth_values, truth_shape) = \
edit_distance(hypothesis_indices, hypothesis_values, hypothesis_shape, truth_indices, truth_values, truth_shape, normalize)
RNNTLoss(blank_label=0)(acts, labels, input_lengths, label_lengths) = rnnt_loss(acts, labels, input_lengths, label_lengths, blank_label)
SequenceMask()(lengths, maxlen) = sequence_mask(lengths, maxlen)
ApplyRotaryPosEmb(cos_format=0)(query, key, cos, sin, position_ids) = rotary(query, key, cos, sin, position_ids, cos_format)

# ---- places ----
UpdateCache()(input_x, indices, updates, max_num) = update_cache(input_x, indices, updates, max_num)
DynamicStitch()(indices, data) = dynamic_stitch(indices, data)
ComputeAccidentalHits(num_true=1)(true_classes, sampled_candidates) = accidental_hits(true_classes, sampled_candidates, num_true)
ConcatOffsetV1()(axis, x) = concat_offset_v1(axis, x)
ArgminV2()(x, axis=-1) = o.argmin(x, int(axis))

# ---- matrices ----
Eigh(compute_eigenvectors=True, lower=True)(A) = eigh(A, compute_eigenvectors, lower)
SelfAdjointEig(compute_v=True)(x) = self_adjoint_eig(x, compute_v)
Lu(output_idx_type)(input) = lu_rows(input, output_idx_type)
MatrixLogarithm()(x) = matrix_logarithm(x)
MatrixSolveLs(fast=True)(matrix, rhs, l2_regularizer) = solve_least_squares(matrix, rhs, l2_regularizer, fast)
TridiagonalSolve(partial_pivoting=True)(diagonals, rhs) = tridiagonal_solve(diagonals, rhs)
Centralization()(input_x, axis) = input_x - o.mean(input_x, axis, True)
InstanceNormV2(is_training=True, momentum=0.1, epsilon=1e-05)(x, gamma, beta, mean, variance) = \
instance_norm_v2(x, gamma, beta, mean, variance, is_training, epsilon)

# ---- further gradients ----
MaxPoolGradGrad(kernel_size=1, strides=1, pad_mode='VALID')(x, out, grad) = max_pool_grad_grad(self, x, grad, 2)
MaxPool3DGradGrad(kernel_size=(1, 1, 1, 1, 1), strides=(1, 1, 1, 1, 1), pad_mode='VALID', data_format='NCDHW')(x, out, grad) = \
max_pool_grad_grad(self, x, grad, 3)
MaxPoolGradGradWithArgmax(kernel_size=1, strides=1, pad_mode='VALID')(x, grad, argmax) = taken(grad, argmax)
MaxPool3DGradWithArgmax(ksize, strides, pads, dilation=(1, 1, 1), ceil_mode=False, data_format='NCDHW')(x, grads, argmax) = p.max_pool_grad(x, grads, argmax)
MaxPoolGradV1(kernel_size=1, strides=1, pad_mode='VALID', data_format='NCHW')(x, out, dout) = vjp(lambda t: max_pool(self, t, 2), dout, x)
MaxPoolV1(kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW')(x) = max_pool(self, x, 2)
AvgPoolV1(kernel_size=1, strides=1, pad_mode='valid', data_format='NCHW')(x) = avg_pool(self, x, 2)
AvgPoolGradV1(kernel_size=1, strides=1, pad_mode='VALID', data_format='NCHW')(orig_input_shape, input_grad) = \
vjp(lambda t: avg_pool(self, t, 2), input_grad, o.zeros(ints(orig_input_shape), input_grad.dtype))
AdaptiveAvgPool2DGrad()(dout, orig_input_shape) = \
vjp(lambda t: o.adaptive_avg_pool2d(t, tuple(dout.shape[-2:])), dout, o.zeros(ints(orig_input_shape), dout.dtype))
AdaptiveAvgPool3DGrad()(input_grad, orig_input_shape) = \
vjp(lambda t: o.adaptive_avg_pool3d(t, tuple(input_grad.shape[-3:])), input_grad, o.zeros(ints(orig_input_shape), input_grad.dtype))
AdaptiveMaxPool2DGrad()(y_grad, x, argmax) = p.max_pool_grad(x, y_grad, argmax)
AdaptiveMaxPool3DGrad()(input_grad, x, argmax) = p.max_pool_grad(x, input_grad, argmax)
MaximumGradGrad(grad_x=True, grad_y=True)(x, y, dx, dy) = (o.zeros_like(x), o.zeros_like(y), o.where(x >= y, dx, dy))
MinimumGradGrad()(x, y, dx, dy) = (o.zeros_like(x), o.zeros_like(y), o.where(x <= y, dx, dy))
LayerNormGradGrad(begin_norm_axis=1, begin_params_axis=1)(x, dy, variance, mean, gamma, d_dx, d_dg, d_db) = \
second_gradient(lambda a, b, c: layer_norm_grad(self, a, b, variance, mean, c), (d_dx, d_dg, d_db), x, dy, gamma)
BatchNormGradGrad(is_training=False, epsilon=1e-05, data_format='NCHW')(x, dy, scale, saved_mean, saved_variance, dout_dx, dout_dscale, dout_dbias) = \
second_gradient(lambda a, b, c: batch_norm_grad(self, b, a, c, saved_mean, saved_variance), (dout_dx, dout_dscale, dout_dbias), x, dy, scale)
AffineGridGrad(align_corners=False)(y_grad, x_size) = \
vjp(lambda t: o.affine_grid(t, ints(x_size), align_corners), y_grad, o.zeros((ints(x_size)[0], len(ints(x_size)) - 2, len(ints(x_size)) - 1), y_grad.dtype))
CholeskyGrad()(x, grad) = cholesky_grad(x, grad)
EinsumGrad(equation)(x, dout) = vjp(lambda *t: o.einsum(equation, *t), dout, *x)
GluGrad(axis)(grads, x) = vjp(lambda t: o.glu(t, axis), grads, x)
IgammaGradA()(a, x) = vjp(lambda t: o.igamma(t, x), o.ones_like(a + x), a)
LogitGrad(eps=-1.0)(grad, input) = vjp(lambda t: o.logit(t, eps if eps >= 0 else None), grad, input)
MaskedSelectGrad()(input, mask, grad) = vjp(lambda t: o.masked_select(t, mask), grad, input)
MedianGrad(global_median=False, axis=0, keep_dims=False)(y_grad, x, y, indices) = \
vjp(lambda t: o.median(t, -1 if global_median else axis, keep_dims)[0] if not global_median else o.median(t.reshape(-1))[0], y_grad, x)
MultiMarginLossGrad(p=1, margin=1.0, reduction='mean')(y_grad, x, target, weight=None) = \
vjp(lambda t: o.multi_margin_loss(t, target, self.p, margin, weight, reduction), y_grad, x)
MultilabelMarginLossGrad(reduction='mean')(y_grad, x, target, is_target) = vjp(lambda t: multilabel_margin_loss(t, target, reduction)[0], y_grad, x)
MvlgammaGrad(p)(y_grad, x) = vjp(lambda t: o.mvlgamma(t, self.p), y_grad, x)
PadV3Grad(mode='reflect', paddings_contiguous=True)(x, paddings) = pad_v3_grad(x, ints(paddings), mode, paddings_contiguous)
PdistGrad(p=2.0)(y_grad, x, y) = vjp(lambda t: o.pdist(t, self.p), y_grad, x)
ResizeBicubicGrad(align_corners=False, half_pixel_centers=False)(grads, image) = \
vjp(lambda t: o.ResizeBicubic(align_corners, half_pixel_centers)(t, tuple(grads.shape[2:])), grads, image)
ResizeLinear1DGrad(coordinate_transformation_mode='align_corners')(grads, x) = \
vjp(lambda t: o.ResizeLinear1D(coordinate_transformation_mode)(t, tuple(grads.shape[2:])), grads, x)
RmsNormGrad()(dy, x, rstd, gamma) = rms_norm_grad(dy, x, rstd, gamma)
SoftmaxGrad()(dout, out) = o.mul(out, dout - o.sum(dout * out, -1, True))
TraceGrad()(y_grad, x_shape) = o.eye(*ints(x_shape), y_grad.dtype) * y_grad
UniqueGrad()(dy, y) = o.gather(dy[0] if isinstance(dy, tuple) else dy, y[1] if isinstance(y, tuple) else y, 0)
LuUnpackGrad(L_grad_flag, U_grad_flag)(L_grad, U_grad, LU_data) = lu_unpack_grad(L_grad, U_grad, LU_data, L_grad_flag, U_grad_flag)
MaxUnpool2DGrad(ksize, strides=0, pads=0, output_shape=(), data_format='NCHW')(x, grads, argmax) = plane_taken(grads, argmax, 2)
MaxUnpool3DGrad(ksize, strides=0, pads=0, output_shape=(), data_format='NCDHW')(x, grads, argmax) = plane_taken(grads, argmax, 3)
""".replace("\\\n", "")
