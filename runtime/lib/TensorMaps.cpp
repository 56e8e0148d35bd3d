// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TensorMaps.h"

#include "BoundCall.h"
#include "CheckedMath.h"
#include "IndexVerifier.h"
#include "Session.h"
#include "SizeExpression.h"

namespace ashlar::runtime {

bool resolveMap(const fb::TensorMap &map, const int64_t *symbols,
                uint64_t bytes, TensorMap &out) {
  // More than any machine's: what a device cannot do, its encode says.
  constexpr uint32_t most = 1 << 16;
  out = {};
  out.elementType = uint32_t(map.type());
  out.rank = map.sizes()->size();
  out.swizzle = map.swizzle();
  int64_t element = int64_t(ashlar_element_type_size(out.elementType));
  int64_t last = element;
  bool isEmpty = false;
  for (uint32_t i = 0; i < out.rank; ++i) {
    int64_t way = 0;
    out.box[i] = map.box()->Get(i);
    out.steps[i] = map.steps()->Get(i);
    if (!evaluateSize(*map.sizes()->Get(i), symbols, out.sizes[i]) ||
        !evaluateSize(*map.strides()->Get(i), symbols, out.strides[i]) ||
        out.box[i] - 1 >= most || out.steps[i] - 1 >= most)
      return false;
    isEmpty |= out.sizes[i] == 0;
    if (!checkedMultiply(out.sizes[i] - 1, out.strides[i], way) ||
        !checkedAdd(last, way, last))
      return false;
  }
  // Nothing is copied of a tensor that is empty for some symbols, but drivers
  // are told of none.
  for (uint32_t i = 0; isEmpty && i < out.rank; ++i) {
    out.sizes[i] = 1;
    if (i != 0)
      out.strides[i] = 16; // the least that they take
  }
  return element != 0 && (!isEmpty || symbols) && out.strides[0] == element &&
         (isEmpty || uint64_t(last) <= bytes) && out.swizzle <= most &&
         (out.swizzle & (out.swizzle - 1)) == 0;
}

/// The grid and the tensor maps, for the sizes of this call.
Status BoundCall::resolveLaunch(const fb::Dispatch &dispatch,
                                const fb::Kernel &kernel, Command &command) {
  CommandList::Launch launch = {{1, 1, 1}, uint32_t(maps.size())};
  int64_t product = 1;
  for (uint32_t i = 0; i < count(dispatch.grid()); ++i) {
    ASHLAR_RETURN_IF_ERROR(evaluate(*dispatch.grid()->Get(i), launch.grid[i]));
    if (!checkedMultiply(product, launch.grid[i], product))
      product = -1;
  }
  if (count(dispatch.grid()) == 0)
    launch.grid[0] = command.extent;
  else if (product != command.extent)
    return corrupt(concat("a grid has other workgroups than the ",
                          command.extent, " of its dispatch"));
  for (uint32_t i = 0; i < count(kernel.arguments()); ++i) {
    const fb::Parameter &argument = *kernel.arguments()->Get(i);
    if (!argument.map())
      continue;
    Map &map = maps.emplace_back();
    map.slot = command.firstPointer + argument.index();
    if (!resolveMap(*argument.map(), symbols.data(),
                    list.extents[map.slot].bytes, map.map))
      return corrupt(concat("a tensor map leaves its ",
                            list.extents[map.slot].bytes, " bytes"));
  }
  command.launch = uint32_t(list.launches.size());
  list.launches.push_back(launch);
  return {};
}

/// After addresses have changed.
Status BoundCall::encodeMaps() {
  graphs.clear();
  encoded = false;
  for (size_t i = 0; i < maps.size(); ++i) {
    const ashlar_device_t &device =
        *session.devices()[slots[maps[i].slot].device];
    ASHLAR_RETURN_IF_ERROR(device.ops.encode(device.state, maps[i].map,
                                             list.addresses[maps[i].slot],
                                             &list.blobs[i]));
  }
  encoded = true;
  return {};
}

} // namespace ashlar::runtime
