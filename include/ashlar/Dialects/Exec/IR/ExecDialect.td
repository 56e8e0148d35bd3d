// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_DIALECTS_EXEC_IR_EXECDIALECT_TD
#define ASHLAR_DIALECTS_EXEC_IR_EXECDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let summary = "The host program: dispatches, buffers, copies";
  let description = [{
    What the runtime executes, without the bodies of kernels. It has two forms.

    From the stage `fuse` on, tensors flow between `exec.dispatch` ops, each of
    which becomes one kernel; `tile` outlines each into an `exec.kernel` with a
    function beside it and turns the dispatch into an `exec.invoke`.

    From the stage `schedule` on, an `exec.program` is a list of commands
    (`exec.launch`, `exec.copy`, `exec.barrier`) on byte ranges of inputs,
    outputs, weights and the arena.

    Sizes are expressions over symbols; a constant is the simplest one.
  }];
  let cppNamespace = "::ashlar::exec";
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

class Exec_Op<string mnemonic, list<Trait> traits = []>
    : Op<Exec_Dialect, mnemonic, traits>;

class Exec_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Exec_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Exec_Storage : I32EnumAttr<"Storage", "Where the bytes of a binding live", [
    I32EnumAttrCase<"Input", 0, "input">,
    I32EnumAttrCase<"Output", 1, "output">,
    I32EnumAttrCase<"Weights", 2, "weights">,
    I32EnumAttrCase<"Arena", 3, "arena">]> {
  let cppNamespace = "::ashlar::exec";
  let genSpecializedAttr = 0;
}

def Exec_SizeAttr : Exec_Attr<"Size", "size"> {
  let summary = "A size in bytes or elements: an expression over symbols";
  let description = [{
    The map has no dims, one symbol per symbol of the module, one result.
    `largest` is what it comes to at the largest sizes.

    ```mlir
    #exec.size<4096>
    #exec.size<affine_map<()[s0] -> (s0 * 4)>, largest = 32>
    ```
  }];
  let parameters = (ins "::mlir::AffineMap":$map, "int64_t":$largest);
  let hasCustomAssemblyFormat = 1;
  let builders = [
    AttrBuilder<(ins "int64_t":$constant)>,
    AttrBuilderWithInferredContext<(ins "::mlir::AffineExpr":$formula,
                                        "unsigned":$symbols,
                                        "int64_t":$largest)>];
  let extraClassDeclaration = [{
    bool isConstant() const { return getMap().isSingleConstant(); }
    int64_t getConstant() const { return getMap().getSingleConstantResult(); }
    ::mlir::AffineExpr getFormula() const { return getMap().getResult(0); }
  }];
}

def Exec_BindingAttr : Exec_Attr<"Binding", "binding"> {
  let summary = "A byte range that a command reads or writes";
  let description = [{
    ```mlir
    #exec.binding<arena 0, offset = <128>, length = <4096>, written = true>
    ```

    Where a caller chooses sizes, `buffer` is the number of the value of the
    arena that the range lies in (`exec.buffers` of the program).
  }];
  let parameters = (ins EnumParameter<Exec_Storage>:$storage,
                        "unsigned":$index,
                        "::ashlar::exec::SizeAttr":$offset,
                        "::ashlar::exec::SizeAttr":$length,
                        "bool":$written,
                        DefaultValuedParameter<"int64_t", "-1">:$buffer);
  let assemblyFormat = [{
    `<` $storage $index `,` `offset` `=` $offset `,` `length` `=` $length `,`
    `written` `=` $written (`,` `buffer` `=` $buffer^)? `>`
  }];
}

def Exec_TensorMapAttr : Exec_Attr<"TensorMap", "tensor_map"> {
  let summary = "What a kernel's copies of boxes are told of a tensor";
  let description = [{
    Of the kernel's binding of that number. Lists have the innermost dim first:
    sizes in elements and strides in bytes, constants or `#exec.size`, and how
    many elements one copy is of, of which it takes one of each step, all
    without `steps`; `swizzle` is the bytes within which units of 16 change
    places, 0: none do.

    ```mlir
    #exec.tensor_map<0 : bf16, sizes [4096, 1024], strides [2, 8192], box [64, 128], swizzle 128>
    #exec.tensor_map<0 : bf16, sizes [64, 56, 56], strides [2, 128, 7168], box [64, 15, 15], steps [1, 2, 2], swizzle 128>
    #exec.tensor_map<0 : bf16, sizes [64, <affine_map<()[s0] -> (s0)>, largest = 96>], strides [2, 128], box [64, 16], swizzle 128>
    ```
  }];
  let parameters = (ins "unsigned":$binding, "::mlir::Type":$type,
                        ArrayRefParameter<"::ashlar::exec::SizeAttr">:$sizes,
                        ArrayRefParameter<"::ashlar::exec::SizeAttr">:$strides,
                        ArrayRefParameter<"int64_t">:$box,
                        OptionalArrayRefParameter<"int64_t">:$steps,
                        "int64_t":$swizzle);
  let assemblyFormat = [{
    `<` $binding `:` $type `,` `sizes` custom<Sizes>($sizes) `,`
    `strides` custom<Sizes>($strides) `,`
    `box` `[` $box `]` `,` (`steps` `[` $steps^ `]` `,`)? `swizzle` $swizzle `>`
  }];
  let genVerifyDecl = 1;
}

def Exec_TargetAttr : Exec_Attr<"Target", "target"> {
  let summary = "The target and the machine model that a program is made for";
  let description = [{
    ```mlir
    #exec.target<"cpu", "x86-64-v3">
    ```
  }];
  let parameters = (ins StringRefParameter<"target">:$name,
                        StringRefParameter<"machine model">:$preset);
  let assemblyFormat = "`<` $name `,` $preset `>`";
}

#endif // ASHLAR_DIALECTS_EXEC_IR_EXECDIALECT_TD
