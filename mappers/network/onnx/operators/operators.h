/*
 * Conversions of operators: each turns the node at work into layers and binds its outputs. `kind` is what the
 * table of operators (table.c) says beside the function; most have no use for it.
 */
#ifndef PIMSIM_MAPPERS_NETWORK_ONNX_OPERATORS_OPERATORS_H
#define PIMSIM_MAPPERS_NETWORK_ONNX_OPERATORS_OPERATORS_H

#include "mappers/network/onnx/importer.h"

void pim_onnx_convert_convolution(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_transposed_convolution(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_deformable_convolution(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_pooling(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_global_pooling(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_unpooling(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_gemm(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_matmul(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_fused_matmul(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_packed_matmul(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_einsum(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_softmax(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_norm_division(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_loss(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_layer_normalization(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_skip_normalization(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_standardization(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_channel_normalization(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_activation(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_elementwise(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_same(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_quantization(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_dynamic_quantization(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_quantized_pair(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_biased_activation(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_reduction(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_concat(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_reshape(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_transpose(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_slice(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_split(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_gather(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_pad(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_expand(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_resize(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_depth_to_space(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_space_to_depth(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_gather_elements(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_reverse_sequence(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_scatter(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_gather_nd(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_top(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_one_hot(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_grid_sample(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_regions(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_box_selection(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_non_zero(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_compress(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_unique(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_columns(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_center(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_affine_grid(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_noise(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_draw(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_determinant(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_choice(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_list(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_list_change(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_list_place(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_list_length(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_split_list(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_join_list(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_recurrent(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_attention(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_packed_attention(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_multi_head_attention(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_grouped_attention(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_rotation(struct pim_onnx_importer *i, unsigned kind);
void pim_onnx_convert_embedding(struct pim_onnx_importer *i, unsigned kind);

#endif
