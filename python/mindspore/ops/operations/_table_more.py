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
""".replace("\\\n", "")
