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
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$operands);
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

def Exec_InvokeOp : Exec_Op<"invoke", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Calls an outlined kernel on tensors";
  let description = [{
    The kernel is a function whose arguments are the operands and then one
    destination per result, all as memrefs.

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
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       ArrayAttr:$inputs, ArrayAttr:$outputs,
                       ArrayAttr:$weights,
                       I64Attr:$arena_bytes,
                       I64Attr:$arena_lower_bound_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Exec_LaunchOp : Exec_Op<"launch", [HasParent<"ProgramOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel on byte ranges";
  let arguments = (ins FlatSymbolRefAttr:$kernel, ArrayAttr:$bindings);
  let assemblyFormat = "$kernel $bindings attr-dict";
}

def Exec_CopyOp : Exec_Op<"copy", [HasParent<"ProgramOp">]> {
  let summary = "Copies bytes between ranges that do not overlap";
  let arguments = (ins Exec_BindingAttr:$source, Exec_BindingAttr:$target);
  let assemblyFormat = "$source `to` $target attr-dict";
}

def Exec_BarrierOp : Exec_Op<"barrier", [HasParent<"ProgramOp">]> {
  let summary = "Everything before it finishes before anything after it starts";
  let assemblyFormat = "attr-dict";
}

#endif // ASHLAR_DIALECTS_EXEC_IR_EXECOPS_TD
