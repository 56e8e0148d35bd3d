// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_DIALECTS_EXEC_IR_EXECOPS_TD
#define ASHLAR_DIALECTS_EXEC_IR_EXECOPS_TD

include "ashlar/Dialects/Exec/IR/ExecDialect.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"

def Exec_DispatchOp : Exec_Op<"dispatch", [
    IsolatedFromAbove, Pure,
    SingleBlockImplicitTerminator<"::ashlar::exec::YieldOp">]> {
  let summary = "Tensor operations that become one kernel";
  let description = [{
    The region's arguments are the operands; it yields the results. Whatever is
    inside becomes one kernel that runs without touching memory outside its
    operands, results and scratch.

    ```mlir
    %y = exec.dispatch(%x, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%x0: tensor<4xf32>, %b0: tensor<4xf32>):
      ...
      exec.yield %sum : tensor<4xf32>
    }
    ```

    `device` says which of the program's devices runs it: 0, its target's, or i,
    that of `exec.companions` number i - 1.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$operands,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$device);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $operands `)` attr-dict `:` functional-type($operands, $outputs)
    $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    YieldOp getYield();
  }];
}

def Exec_YieldOp : Exec_Op<"yield", [Terminator, Pure, ReturnLike,
                                     HasParent<"DispatchOp">]> {
  let summary = "The results of a dispatch";
  let arguments = (ins Variadic<AnyRankedTensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), [{ }]>];
}

def Exec_TransferOp : Exec_Op<"transfer", [
    Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "The same tensor in the memory of another device";
  let description = [{
    From or to device 0, which is the host's.

    ```mlir
    %y = exec.transfer %x to 1 : tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, I64Attr:$device);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `to` $device attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Exec_KernelOp : Exec_Op<"kernel", [
    Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "What is known of a kernel beside its body";
  let description = [{
    Stands beside the function that computes it, whatever a target makes of
    that, and is what `exec.invoke` and `exec.launch` name. `bindings` are the
    buffers that it takes, as memrefs of the largest sizes: operands, then
    results. The function takes them in this order, then `parameters`, and once
    the kernel has a grid, its scratch and the range of groups to compute.

    ```mlir
    exec.kernel @k0_relu calls @k0_relu_body : (memref<8xf32>) -> memref<8xf32>
        device 1 grid [#exec.size<12>] scratch 0
        {nodes = ["relu"], flops = #exec.size<8>}
    ```

    - `device`: which of the program's devices runs it, as of `exec.dispatch`.
    - `grid`: how many groups it has, at most along three dims; `scratch`: bytes
      for each worker. Missing until the target's pipeline has formed groups.
    - `block`: threads of a workgroup, each of which computes one group: one to
      three numbers, the fastest first; without, a worker computes a range.
    - `cluster`: workgroups that run together and reach each other's memory,
      likewise; as many neighbours, of which the grid has whole numbers.
    - `nodes`: the model's nodes that it computes.
    - `flops`: arithmetic operations of one call.
    - `cycles`, `bound`: what one worker would take if the strategies of its
      contractions hold, and what limits it.
    - `parameters`: the integers that it takes behind its buffers, as index.
    - `aliases`: the operands whose memory the only result may take over.
    - `tensor_maps`: what it is told of tensors behind all else, for copies that
      name no addresses.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<FlatSymbolRefAttr>:$body,
                       TypeAttrOf<FunctionType>:$bindings,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$device,
                       OptionalAttr<TypedArrayAttrBase<Exec_SizeAttr,
                                    "sizes">>:$grid,
                       OptionalAttr<DenseI64ArrayAttr>:$block,
                       OptionalAttr<DenseI64ArrayAttr>:$cluster,
                       OptionalAttr<I64Attr>:$scratch_bytes,
                       OptionalAttr<StrArrayAttr>:$nodes,
                       OptionalAttr<Exec_SizeAttr>:$flops,
                       OptionalAttr<I64Attr>:$cycles,
                       OptionalAttr<StrAttr>:$bound,
                       OptionalAttr<TypedArrayAttrBase<Exec_SizeAttr,
                                    "sizes">>:$parameters,
                       OptionalAttr<DenseI64ArrayAttr>:$aliases,
                       OptionalAttr<TypedArrayAttrBase<Exec_TensorMapAttr,
                                    "tensor maps">>:$tensor_maps);
  let assemblyFormat = [{
    $sym_name (`calls` $body^)? `:` $bindings (`device` $device^)?
    (`grid` $grid^)? (`block` $block^)? (`cluster` $cluster^)?
    (`scratch` $scratch_bytes^)? attr-dict
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
                                 "::mlir::FunctionType":$bindings)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getNumOperands() { return getBindings().getNumInputs(); }
    unsigned getNumResults() { return getBindings().getNumResults(); }
    unsigned getNumBindings() { return getNumOperands() + getNumResults(); }
    ::mlir::Type getBindingType(unsigned i) {
      return i < getNumOperands()
                 ? getBindings().getInput(i)
                 : getBindings().getResult(i - getNumOperands());
    }
    unsigned getNumParameters() {
      return getParameters() ? getParameters()->size() : 0;
    }
    /// How many groups all dims of the grid make; null: it has none yet.
    SizeAttr getGroups();
    bool mayTakeOver(int64_t operand) {
      return ::llvm::is_contained(
          getAliases().value_or(::llvm::ArrayRef<int64_t>()), operand);
    }
  }];
}

def Exec_InvokeOp : Exec_Op<"invoke", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Calls an outlined kernel on tensors";
  let description = [{
    ```mlir
    %y = exec.invoke @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel,
                       Variadic<AnyRankedTensor>:$operands);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $kernel `(` $operands `)` attr-dict
    `:` functional-type($operands, $outputs)
  }];
}

def Exec_ProgramOp : Exec_Op<"program", [
    IsolatedFromAbove, Symbol, NoTerminator, SingleBlock,
    HasOnlyGraphRegion, RegionKindInterface]> {
  let summary = "One entry point as an ordered list of commands";
  let description = [{
    `inputs` and `outputs` hold a dictionary each: name, ONNX element type and
    tensor type. `weights` holds the constants that the commands read, in the
    order that bindings count them. The byte figures are the memory contract.
    `companion_arenas` are those of further devices: their bytes and the least
    that any plan needs, for each. `output_sizes`, a dictionary each with `output`, `dimension` and `value`,
    says where the program leaves sizes that depend on data.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       ArrayAttr:$inputs, ArrayAttr:$outputs,
                       ArrayAttr:$weights,
                       I64Attr:$arena_bytes,
                       I64Attr:$arena_lower_bound_bytes,
                       OptionalAttr<ArrayAttr>:$output_sizes,
                       OptionalAttr<DenseI64ArrayAttr>:$companion_arenas);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    /// Further devices that it runs on.
    unsigned getNumCompanions() {
      return getCompanionArenas().value_or(::llvm::ArrayRef<int64_t>()).size() /
             2;
    }
    int64_t getCompanionArenaBytes(unsigned i) {
      return (*getCompanionArenas())[2 * i];
    }
    int64_t getCompanionLowerBound(unsigned i) {
      return (*getCompanionArenas())[2 * i + 1];
    }
  }];
}

/// A command of a program, or of a block inside one.
class Exec_Command<string mnemonic, list<Trait> traits = []>
    : Exec_Op<mnemonic,
              !listconcat([ParentOneOf<["ProgramOp", "IfOp", "LoopOp"]>],
                          traits)>;

def Exec_LaunchOp : Exec_Command<"launch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel on byte ranges";
  let arguments = (ins FlatSymbolRefAttr:$kernel, ArrayAttr:$bindings);
  let assemblyFormat = "$kernel $bindings attr-dict";
}

def Exec_CopyOp : Exec_Command<"copy"> {
  let summary = "Copies bytes between ranges that do not overlap";
  let description = [{
    Arena i is that of device i; one end of a copy is on device 0.
    In a loop the ranges may move on with each iteration, by a stride in bytes:

    ```mlir
    exec.copy <input 0, offset = <0>, length = <16>, written = false>
        to <arena 0, offset = <0>, length = <16>, written = true>
        {source_stride = 16 : i64}
    ```
  }];
  let arguments = (ins Exec_BindingAttr:$source, Exec_BindingAttr:$target,
                       DefaultValuedAttr<I64Attr, "0">:$source_stride,
                       DefaultValuedAttr<I64Attr, "0">:$target_stride);
  let assemblyFormat = "$source `to` $target attr-dict";
  let builders = [OpBuilder<(ins "::ashlar::exec::BindingAttr":$source,
                                 "::ashlar::exec::BindingAttr":$target), [{
    build($_builder, $_state, source, target, int64_t(0), int64_t(0));
  }]>];
}

def Exec_BarrierOp : Exec_Command<"barrier"> {
  let summary = "Everything before it finishes before anything after it starts";
  let assemblyFormat = "attr-dict";
}

def Exec_CheckOp : Exec_Command<"check"> {
  let summary = "Ends the call with a message if a byte is zero";
  let description = [{
    Like all commands that read a condition, it waits for everything before it,
    and what follows waits for it.
  }];
  let arguments = (ins Exec_BindingAttr:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}

def Exec_IfOp : Exec_Command<"if", [
    NoTerminator, SingleBlock, HasOnlyGraphRegion, RegionKindInterface]> {
  let summary = "One of two blocks of commands, by a byte";
  let arguments = (ins Exec_BindingAttr:$condition);
  let regions = (region SizedRegion<1>:$thenBlock, SizedRegion<1>:$elseBlock);
  let assemblyFormat = [{
    $condition attr-dict-with-keyword $thenBlock `else` $elseBlock
  }];
}

def Exec_LoopOp : Exec_Command<"loop", [
    NoTerminator, SingleBlock, HasOnlyGraphRegion, RegionKindInterface]> {
  let summary = "A block of commands again and again";
  let description = [{
    It runs while the byte at `condition` is set, if there is one, and at most
    `iterations` times, if that is given.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$iterations,
                       OptionalAttr<Exec_BindingAttr>:$condition);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`while` $condition^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

#endif // ASHLAR_DIALECTS_EXEC_IR_EXECOPS_TD
