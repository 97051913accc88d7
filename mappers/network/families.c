/* The families of vision transformers. */
#include "mappers/network/families.h"
#include "mappers/network/builder.h"

const struct pim_family_row pim_families[PIM_FAMILIES] = {
    [PIM_FAMILY_VIT] = {pim_build_vit, .keys = PIM_READS_CLASS_TOKEN, .single_stage = true},
    [PIM_FAMILY_SWIN] = {pim_build_swin, .keys = PIM_READS_WINDOW, .pads_odd_maps = true,
                         .dependence = PIM_BRANCHES_SHIFT},
    [PIM_FAMILY_PVT] = {pim_build_pvt, .keys = PIM_READS_REDUCTION, .ends_with_class = true},
    [PIM_FAMILY_TWINS] = {pim_build_twins, .keys = PIM_READS_WINDOW | PIM_READS_REDUCTION, .alternates = true,
                          .dependence = PIM_BRANCHES_MEET_ALL, .convolution = PIM_CONVOLUTION_OVER_MAP},
    [PIM_FAMILY_FOCAL] = {pim_build_focal, .keys = PIM_READS_WINDOW | PIM_READS_FOCAL,
                          .dependence = PIM_BRANCHES_AROUND},
    [PIM_FAMILY_CSWIN] = {pim_build_cswin, .keys = PIM_READS_STRIPE, .pads_odd_maps = true,
                          .dependence = PIM_BRANCHES_MEET_ALL, .convolution = PIM_CONVOLUTION_OVER_VALUES},
};
