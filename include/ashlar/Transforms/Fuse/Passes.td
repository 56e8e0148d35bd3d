// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_FUSE_PASSES_TD
#define ASHLAR_TRANSFORMS_FUSE_PASSES_TD

include "mlir/Pass/PassBase.td"

def FuseElementwisePass
    : Pass<"ashlar-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Merge chains of elementwise operations";
  let description = [{
    Before: linalg ops on tensors. After: an elementwise op whose only reader
    reads each of its elements once has become part of that reader. A producer
    is not merged into a contraction, which reads its operands many times. No
    body grows beyond 256 operations.
  }];
  let options = [Option<"keepBytes", "keep-bytes", "bool", "false",
                        "Numbers that were rounded to bytes stay values: a "
                        "device beside the program's own makes them of sums, "
                        "and nothing else">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def NormalizeGenericsPass
    : Pass<"ashlar-normalize-generics", "::mlir::func::FuncOp"> {
  let summary = "Bring linalg ops into one form";
  let description = [{
    Before: linalg ops on tensors, under any name. After: all but fills are
    `linalg.generic`, and a sum of products that began at a tensor begins at
    zero; the tensor is added behind it, so that a bias becomes an epilogue. An
    operand that is read backwards along some dim is read by its indices, and one
    whose dims of size 1 a reshape has added is read in front of the reshape.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def AssignLayoutsPass
    : Pass<"ashlar-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "Choose the order of dims in memory for the whole program";
  let description = [{
    Before: linalg and tensor ops in the model's own order of dims. After: a
    contraction with constant weights writes its sums side by side and reads
    what it sums side by side (channels last, for a convolution); elementwise
    ops, reductions, windows, padding, slices, concatenation and reshapes follow
    the order of what they read. Transposes stand only where an order has to be
    restored: at the function's end, and before what cannot follow.
  }];
  let statistics = [Statistic<"numTransposes", "transposes",
                              "Transposes that remain">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def WidenFactorsPass
    : Pass<"ashlar-widen-factors", "::mlir::func::FuncOp"> {
  let summary = "Convert computed factors of products once, where they are made";
  let description = [{
    Before: `linalg.generic` ops that extend factors of 16 bits in front of each
    product. After: factors that are computed come as tensors of the type of the
    sums, extended by elementwise ops that fuse into what makes them. Left
    alone: constants, other types than `types`.
  }];
  let options = [ListOption<"types", "types", "std::string",
                            "Types without products of their own: f16, bf16">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FormContractsPass
    : Pass<"ashlar-form-contracts", "::mlir::func::FuncOp"> {
  let summary = "Recognize contractions and give them their epilogues";
  let description = [{
    Before: linalg ops on tensors. After: every `linalg.generic` that sums
    products of two operands over affine addresses, starting at zero, is a
    `tile.contract`, whatever it was in the model: a matrix product, a
    convolution of any rank or grouping. The elementwise op that alone reads the
    sums is its epilogue. Left alone: dynamic sizes, sums along whose last dim
    neither operand changes.
  }];
  let options = [Option<"epilogues", "epilogues", "bool", "true",
                        "Let elementwise ops become epilogues">,
                 Option<"units", "units", "bool", "false",
                        "The machine's units take several operands of 16 bits "
                        "that lie side by side">];
  let dependentDialects = ["::ashlar::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ReadMarginsPass : Pass<"ashlar-read-margins", "::mlir::func::FuncOp"> {
  let summary = "Let copy engines fill in the zeros around a tensor";
  let description = [{
    Before: `tensor.pad` by zeros that contractions alone read as their first
    operand. After: where the fastest way of each of them that is predicted has
    an engine which copies boxes and writes zeros where they leave a tensor
    (`boxes` and `zero_fill` of the machine file), they read a `tile.decode`
    that is the tensor with margins, and no memory has these. Left alone: all
    paddings of a tensor of which one does not become that.
  }];
  let options = [Option<"machineName", "machine", "std::string", "",
                        "TARGET:PRESET or a machine file (*.json); otherwise a "
                        "small made-up machine">];
  let dependentDialects = ["::ashlar::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def AbsorbPaddingPass
    : Pass<"ashlar-absorb-padding", "::mlir::func::FuncOp"> {
  let summary = "Let contractions write into the middle of a padded tensor";
  let description = [{
    Before: `tensor.pad` of a contraction's result. After: the contraction's
    result is the padded tensor, its map leaves the margins free and its `pad`
    fills them; whoever reads the result without margins reads a slice of it.
    Left alone: pads by values that are not constant, results that reshapes,
    views or the function's end read.
  }];
  let dependentDialects = ["::ashlar::tile::TileDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FormWinogradPass : Pass<"ashlar-form-winograd", "::mlir::func::FuncOp"> {
  let summary = "Compute 3x3 convolutions of stride one by fewer products";
  let description = [{
    Before: `tile.contract` ops. After: those that are 3x3 convolutions of
    stride one with constant weights in f32 are `tile.winograd`, where the
    machine model predicts a gain of a tenth and the error that the weights show
    on random inputs, relative to the largest result, stays below 1e-5. An input
    whose channels do not lie side by side is transposed in front of it.
  }];
  let options = [Option<"machineName", "machine", "std::string", "",
                        "TARGET:PRESET or a machine file (*.json); otherwise a "
                        "small made-up machine">];
  let dependentDialects = ["::ashlar::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def MergeContractsPass
    : Pass<"ashlar-merge-contracts", "::mlir::func::FuncOp"> {
  let summary = "Compute contractions of one tensor with several constants "
                "together";
  let description = [{
    Before: `tile.contract` ops, some of which read the same `a`. After: those
    that differ in their constants only are one, with one parallel dim more, the
    first: constants are stacked along it (`#tile.stacked`), results as well, and
    whoever reads one of them reads a slice, which is a view.
    Left alone, each with a remark that says why: other sizes, orders, types or
    epilogues, results that leave the block, those that are no multiple of 64
    bytes, and where one takes longer, by the machine model, than all of them
    with their launches.
  }];
  let options = [Option<"machineName", "machine", "std::string", "",
                        "TARGET:PRESET or a machine file (*.json); otherwise a "
                        "small made-up machine">];
  let dependentDialects = ["::ashlar::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ChooseStrategiesPass
    : Pass<"ashlar-choose-strategies", "::mlir::func::FuncOp"> {
  let summary = "Choose how each contraction is computed";
  let description = [{
    Before: `tile.contract` ops. After: each has the `#tile.strategy` of the
    least predicted time among those that fit the machine, and constant operands
    are `tile.pack`ed as the kernel reads them. A remark says what was chosen.
  }];
  let options = [Option<"machineName", "machine", "std::string", "",
                        "TARGET:PRESET or a machine file (*.json); otherwise a "
                        "small made-up machine">];
  let dependentDialects = ["::ashlar::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ChooseAttentionPass
    : Pass<"ashlar-choose-attention", "::mlir::func::FuncOp"> {
  let summary = "Choose attentions whose scores and sums stay with the threads";
  let description = [{
    Where a unit of the machine takes its left operand from the registers that
    hold its sums, a `tile.attention` gets a grid over rows, a loop over keys, a
    group behind it and strategies of both products with rings of queries, keys
    and values. All others stay as they are; a remark says why. Where there are
    fewer parts of rows than workers, and it is predicted to be faster, the grid
    shares out keys as well, and a `linalg.generic` merges what the parts have.
    With `open-sizes` it does not, and threads copy by themselves.
  }];
  let options = [Option<"machineName", "machine", "std::string", "",
                        "TARGET:PRESET or a machine file (*.json); otherwise a "
                        "small made-up machine">,
                 Option<"openSizes", "open-sizes", "bool", "false",
                        "Each call chooses some sizes">];
  let dependentDialects = ["::ashlar::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FormAttentionPass
    : Pass<"ashlar-form-attention", "::mlir::func::FuncOp"> {
  let summary = "Make one op of two contractions with a softmax between them";
  let description = [{
    Before: contractions with strategies, and what lies between them as linalg
    ops. After: where a softmax along the last dim of a contraction's result,
    which an elementwise op may have gone over, is a factor of another one and
    of nothing else, all of it is one `tile.attention`. Its levels say of which
    rows a worker makes the scores at once.

    With `shared`, threads compute a worker's part together: a loop takes so many
    keys at a time wherever it can, and strategies of the two products are
    chosen when what a worker has of them is known. If callers choose sizes, rows
    and keys of a tile need not divide them; scores and sums that do not stay
    with the threads of `machine` have such a loop, or are left alone.

    Left alone, with a remark: scores that do not stay near a worker. Left alone
    without one: exponentials or sums of another type than the scores, and
    contractions of other devices than the first.
  }];
  let options = [Option<"scoreBytes", "score-bytes", "int64_t", "131072",
                        "The scores that a worker has at a time fit in this "
                        "many bytes">,
                 Option<"openSizes", "open-sizes", "bool", "false",
                        "Each call chooses some sizes">,
                 Option<"scratchBytes", "scratch-bytes", "int64_t", "0",
                        "What a worker keeps for itself should fit in this "
                        "many bytes; 0: as much as is fast">,
                 Option<"shared", "shared", "bool", "false",
                        "Threads share a worker's part">,
                 Option<"machineName", "machine", "std::string", "",
                        "TARGET:PRESET or a machine file (*.json); otherwise a "
                        "small made-up machine">];
  let dependentDialects = ["::ashlar::tile::TileDialect"];
}

def SplitReductionsPass
    : Pass<"ashlar-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "Share out long reductions of few results among workgroups";
  let description = [{
    Before: `linalg.generic` reductions, alone or with the ops of a softmax or a
    norm around them. After: where few workgroups would have long rows, and the
    machine model predicts a gain of a twentieth with all launches counted, a
    reduction is one of parts of its terms, whose results lie beside each other,
    and one of these, in their order, with the few terms that are left over.
    Readers each combine parts for themselves, so that a softmax is three
    kernels: its maxima of parts, its sums of parts, and the rest.

    What passes from op to op by rows, such as exponentials, and has no room in
    a workgroup's memory, or would be parts of rows, each reader computes again.

    ```mlir
    %sum = linalg.generic (i, n) ins(%x) outs(%zero)                // before
    %parts = linalg.generic (i, p, r) ins(%x at [i, p * 4096 + r])  // after
    %sum = linalg.generic (i, p) ins(%parts) outs(%zero)
    ```

    Left alone: machines without threads that take turns, sizes that are not
    known, reductions that are no single op in any order (the place of a
    maximum), and what is part of control flow.
  }];
  let options = [Option<"machineName", "machine", "std::string", "",
                        "TARGET:PRESET or a machine file (*.json); otherwise a "
                        "small made-up machine">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FormDispatchesPass
    : Pass<"ashlar-form-dispatches", "::mlir::func::FuncOp"> {
  let summary = "Put every op that moves or computes data into a dispatch";
  let description = [{
    Before: a function of linalg, tensor and scf ops on tensors. After: its
    body holds constants, views (reshapes and slices of contiguous data) and
    `exec.dispatch` ops only. With `fuse`, an elementwise op joins the
    contraction or reduction whose result it reads, and ops that work row by
    row, such as those of a softmax, join each other, up to 64 of them. Of more
    than 32 small slices of one tensor, 32 share a dispatch. Fills and empty
    tensors are copied into the dispatches that use them. Control flow on tensors (see
    ControlFlow.h) stays, with dispatches in its blocks.

    Refuses what cannot be computed in a kernel: values at the function's top
    level that are neither tensors nor constants.
  }];
  let options = [Option<"fuse", "fuse", "bool", "true",
                        "Let epilogues join their contraction">,
                 Option<"rowBytes", "row-bytes", "int64_t", "32768",
                        "Ops that work row by row join where a row of each "
                        "fits in this many bytes">,
                 Option<"fewRows", "few-rows", "bool", "false",
                        "Workgroups have rows, and hold no more of one than "
                        "what passes from op to op: few rows join as well">,
                 Option<"openSizes", "open-sizes", "bool", "false",
                        "Each call chooses some sizes: what joins must fit the "
                        "largest, whatever divides them">];
  let dependentDialects = ["::ashlar::exec::ExecDialect"];
}

def MergeReductionsPass
    : Pass<"ashlar-merge-reductions", "::mlir::func::FuncOp"> {
  let summary = "Let reductions of one tensor read it once";
  let description = [{
    Before: dispatches. After: those that do nothing but reduce the same tensor
    along the same dims, such as its mean and its maximum or the bounds that a
    quantization asks for, are one with several results, up to four. An
    elementwise op that finishes one of them in place, such as the division of a
    mean, is part of it still.
    Left alone, each with a remark that says why: other dims or orders, and what
    reads besides something that is made only later.
  }];
  let dependentDialects = ["::ashlar::exec::ExecDialect",
                           "::mlir::linalg::LinalgDialect"];
}

def AddBiasesToSumsPass
    : Pass<"ashlar-add-biases-to-sums", "::mlir::func::FuncOp"> {
  let summary = "Add biases to integer sums before these are scaled";
  let description = [{
    Before: `tile.contract` ops that scale a sum of bytes and then add a
    constant. After: the constant is an integer in the unit of the sums, added
    before they are scaled, which is what a device without a vector unit can do.
    Left alone is what is not equal to the bit: scales that are no power of two,
    constants that are no multiples of them, and sums whose weights may add up
    to more than f32 holds exactly.

    ```mlir
    sitofp(sum) * 0.125 + 2.5           // before
    sitofp(sum + 20) * 0.125            // after
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FormSumsPass : Pass<"ashlar-form-sums", "::mlir::func::FuncOp"> {
  let summary = "Make contractions of sums that a device adds in accumulators";
  let description = [{
    Before: elementwise ops on two tensors of bytes that add these, both times
    the same power of two, before all else, as a quantized network adds a
    residual. After: where a companion without a vector unit computes it, a
    `tile.contract` of one term: a is one of the tensors, b is all ones (the
    attribute `tile.ones` says so), and the other tensor is added to the sum, as
    an integer, before it is scaled. That is equal to the bit.
    Left alone are other scales, operands at other places than the result's, and
    what no companion takes, with a remark that says why.

    ```mlir
    sitofp(x) * 0.125 + sitofp(y) * 0.125       // before, of each element
    sitofp(x * 1 + y) * 0.125                   // after
    ```
  }];
  let options = [Option<"deviceNames", "devices", "std::string", "",
                        "Of the program beside the host, from 1 on: "
                        "TARGET:PRESET+... or machine files (*.json)">];
  let dependentDialects = ["::ashlar::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PlaceOperationsPass
    : Pass<"ashlar-place-operations", "::mlir::func::FuncOp"> {
  let summary = "Give each operation the device on which the program takes least";
  let description = [{
    Before: linalg and tensor ops and `tile.contract` ops without a strategy.
    After: a contraction that a companion of the program computes has its number
    as its `device`, any other op as its attribute `exec.device`; all others are
    the host's, device 0.

    What counts is the predicted time of all together. An operation takes on a
    device what its target predicts or else its machine model, and cannot run
    where that target refuses it. Each tensor that crosses takes its bytes over
    the device's link to the host (`links` of its machine file), once for each
    device that reads it; inputs come from the host and results go back. Two ops
    of a chain on one device save the bytes between them and a launch. What
    `ashlar-absorb-rows` makes part of a contraction on a device runs there if
    and only if the contraction does, and on the host takes its time. With one
    companion the choice is the best there is (a minimum cut); with more it is
    no worse than any on two devices. An operation stays where the first
    companion that can compute it, or else the host, would have it, if all
    others take as long.

    Control flow stays on the host, with what is in it. Remarks tell the times
    on the devices of each operation that a companion could compute, and why the
    contractions stay that none could.

    ```mlir
    %y = tile.contract a(%x ...) b(%w ...) outs(%e ...) attributes {...}
    // becomes, where device 1 is worth it
    %y = tile.contract a(%x ...) b(%w ...) outs(%e ...) attributes {..., device = 1}
    ```
  }];
  let options = [Option<"machineName", "machine", "std::string", "",
                        "The host's: TARGET:PRESET or a machine file (*.json); "
                        "otherwise a small made-up machine">,
                 Option<"deviceNames", "devices", "std::string", "",
                        "Of the program beside the host, from 1 on: "
                        "TARGET:PRESET+... or machine files (*.json)">,
                 Option<"standsIn", "host-stands-in", "bool", "false",
                        "The host computes only what no other device can">,
                 Option<"absorbsRows", "absorb-rows", "bool", "true",
                        "ashlar-absorb-rows comes later">];
  let dependentDialects = ["::ashlar::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def AbsorbRowsPass : Pass<"ashlar-absorb-rows", "::mlir::func::FuncOp"> {
  let summary = "Let contractions of further devices end in a softmax or a norm";
  let description = [{
    Before: `exec.dispatch` ops. After: where a softmax, a layer norm or another
    chain with sums or maxima along rows is all that reads a contraction of a
    companion, and that companion says it can, the chain is part of the
    contraction's body: `tile.row_sum`, `tile.row_maximum`. If a result is read
    both as it is and rounded, the contraction stores both. A remark says why
    other chains stay on the host.

    ```mlir
    %s = exec.dispatch(...) {device = 1} { tile.contract ... yield %sum }
    %y = exec.dispatch(%s) { softmax }                               // before
    %y = exec.dispatch(...) {device = 1} { tile.contract ...
      %m = tile.row_maximum %sum over [2] : f32 ... }                 // after
    ```
  }];
  let options = [Option<"deviceNames", "devices", "std::string", "",
                        "Of the program beside the host, from 1 on: "
                        "TARGET:PRESET+...">];
  let dependentDialects = ["::ashlar::exec::ExecDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def InsertTransfersPass
    : Pass<"ashlar-insert-transfers", "::mlir::func::FuncOp"> {
  let summary = "Copy tensors to the devices that read them";
  let description = [{
    Before: `exec.dispatch` ops of several devices that read each other's
    results. After: whatever a dispatch reads is a constant or in its own
    device's memory, by `exec.transfer` ops; whatever the function returns is in
    the host's. A remark for each tells its bytes.
  }];
  let dependentDialects = ["::ashlar::exec::ExecDialect"];
}

#endif // ASHLAR_TRANSFORMS_FUSE_PASSES_TD
