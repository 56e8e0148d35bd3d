// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_SCHEDULE_PASSES_TD
#define ASHLAR_TRANSFORMS_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ReorderOperationsPass
    : Pass<"ashlar-reorder-operations", "::mlir::ModuleOp"> {
  let summary = "Order kernels so that the least memory is alive at the peak";
  let description = [{
    Before: functions that hold constants, views, `exec.invoke` and control flow
    around them. After: the same, the invocations between two ops of control
    flow in an order of theirs with the lowest peak, where that is lower than
    before. Exact where the graph lets the search be, see OperationOrder.h;
    otherwise the best that was found. A remark says which.

    Two branches of one value that are computed side by side,

    ```mlir
    %a = exec.invoke @wide(%x)
    %b = exec.invoke @wide(%x)
    %c = exec.invoke @narrow(%a)
    %d = exec.invoke @narrow(%b)
    ```

    are computed one after the other: `%a`, `%c`, `%b`, `%d`.

    If `arena-bytes` asks for less than any order needs, values that are cheap
    to compute (no contractions, few operations a byte) and lie idle at the peak
    are let go and computed again before they are read, as long as that brings
    the peak nearer. A remark tells each with its cost.
  }];
  let options = [Option<"arenaBytes", "arena-bytes", "int64_t", "0",
                        "Compute values again to need no more; 0: never">];
}

def JoinKernelsPass : Pass<"ashlar-join-kernels", "::mlir::ModuleOp"> {
  let summary = "Make one kernel of those that a device runs in succession";
  let description = [{
    For devices whose kernels are streams of commands: the end of one computation
    and the beginning of the next overlap in one stream, while each kernel by
    itself starts with an idle machine.

    Before: invocations of kernels of contractions on the memory of `devices`.
    After: invocations of one such device between which the host computes nothing
    that the later ones read are one invocation, of a kernel that holds all of
    their contractions in order. What only they read lies in one more result,
    planned like an arena. Sequences that are wired alike share a kernel. Other
    commands that read a result move behind it. Where what lies between contractions
    of a batch does not fit into `chip-bytes`, and their weights are small beside it,
    they are computed for one part of the batch after the other.
  }];
  let options = [ListOption<"devices", "devices", "int64_t",
                            "Numbers of the devices">,
                 Option<"chipBytes", "chip-bytes", "int64_t", /*default=*/"0",
                        "What a device's programs place data in; 0: nothing">];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect"];
}

def ScheduleProgramPass
    : Pass<"ashlar-schedule-program", "::mlir::ModuleOp"> {
  let summary = "Turn functions into command lists with a planned arena";
  let description = [{
    Before: a program whose functions hold constants, views, `exec.invoke` and
    control flow around them. After: each of them is an `exec.program`. Values get lifetimes and offsets
    in one arena; a result takes over the place of an operand that dies there
    where its kernel allows it; what the caller passes in or takes out is read
    and written in place. The blocks of control flow share one range of the
    arena; what a loop carries stays in one place.

    Refuses loops whose condition needs kernels in the block that decides, and
    rows put into a tensor that the step reads otherwise.
  }];
  let dependentDialects = ["::ashlar::exec::ExecDialect"];
}

#endif // ASHLAR_TRANSFORMS_SCHEDULE_PASSES_TD
