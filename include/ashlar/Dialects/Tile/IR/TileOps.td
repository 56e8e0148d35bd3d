// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_DIALECTS_TILE_IR_TILEOPS_TD
#define ASHLAR_DIALECTS_TILE_IR_TILEOPS_TD

include "ashlar/Dialects/Tile/IR/TileDialect.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

def Tile_ContractOp : Tile_Op<"contract", [
    AttrSizedOperandSegments,
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>,
    SingleBlock]> {
  let summary = "Sums of products over affine addresses, then an epilogue";
  let description = [{
    For each point of the parallel dims: the sum over the reduced dims of
    a[map] * b[map], both converted to the accumulator's type first, goes
    through the body together with the epilogue's operands at that point, and
    what is yielded is stored at the result's map. The loops' sizes are
    `parallel` and `reduced`; maps are over all of them, parallel first, those
    of the epilogue and the result over the parallel ones only.

    - A dim that b's map and the result depend on is N, one of a's is M, one of
      all three is a batch, or, being the last of the result, lanes.
    - b depends on the last dim of the result.
    - Maps are affine. b's may use `floordiv` and `mod` by a constant of the
      last parallel dim: then it is stored in panels of that many columns.
    - Integers are extended as `aUnsigned` and `bUnsigned` say and wrap.
    - Elements of the result that no point is mapped to become `pad`.
    - `device` is which of a program's devices computes it; left out: the first.
    - On other devices than the first, the body may combine the values of a row
      by `tile.row_sum` and `tile.row_maximum`, and `unrounded` may be a second destination: where
      the body yields a rounded value, it gets what was rounded, at the same
      places.

    ```mlir
    %y = tile.contract a(%x: tensor<1x58x58x64xf32>)
                       b(%w: tensor<2x3x3x64x32xf32>)
                       epilogue(%bias: tensor<64xf32>)
                       outs(%d: tensor<1x56x56x64xf32>) attributes {
           parallel = array<i64: 1, 56, 56, 64>, reduced = array<i64: 3, 3, 64>,
           maps = [affine_map<(n, h, w, o, r, s, c) -> (n, h + r, w + s, c)>,
                   affine_map<(n, h, w, o, r, s, c)
                              -> (o floordiv 32, r, s, c, o mod 32)>,
                   affine_map<(n, h, w, o) -> (o)>,
                   affine_map<(n, h, w, o) -> (n, h, w, o)>]} {
         ^bb0(%sum: f32, %bias: f32):
           %z = arith.addf %sum, %bias : f32
           tile.yield %z : f32
         } -> tensor<1x56x56x64xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$a, AnyShaped:$b,
                       Variadic<AnyShaped>:$epilogue, AnyShaped:$init,
                       Optional<AnyShaped>:$unrounded,
                       DenseI64ArrayAttr:$parallel, DenseI64ArrayAttr:$reduced,
                       AffineMapArrayAttr:$maps,
                       UnitAttr:$aUnsigned, UnitAttr:$bUnsigned,
                       OptionalAttr<TypedAttrInterface>:$pad,
                       OptionalAttr<Tile_StrategyAttr>:$strategy,
                       OptionalAttr<I64Attr>:$device);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `a` `(` $a `:` type($a) `)` `b` `(` $b `:` type($b) `)`
    (`epilogue` `(` $epilogue^ `:` type($epilogue) `)`)?
    `outs` `(` $init `:` type($init) `)`
    (`unrounded` `(` $unrounded^ `:` type($unrounded) `)`)?
    attr-dict-with-keyword $body
    (`->` type($outputs)^)?
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      unsigned count = getUnrounded() ? 2 : 1;
      return ::mlir::MutableOperandRange(
          getOperation(), getOperation()->getNumOperands() - count, count);
    }
    ::mlir::AffineMap getMap(unsigned number) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[number]).getValue();
    }
    ::mlir::AffineMap getAMap() { return getMap(0); }
    ::mlir::AffineMap getBMap() { return getMap(1); }
    ::mlir::AffineMap getEpilogueMap(unsigned i) { return getMap(2 + i); }
    ::mlir::AffineMap getResultMap() { return getMap(getMaps().size() - 1); }
    /// The type that sums are in: the body's first argument.
    ::mlir::Type getAccumulatorType() {
      return getBody().getArgument(0).getType();
    }
    YieldOp getYield();
    /// Of one that has a strategy.
    ::llvm::LogicalResult verifyStrategy();
  }];
}

def Tile_WinogradOp : Tile_Op<"winograd", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>,
    SingleBlock]> {
  let summary = "A 3x3 convolution of stride one by fewer products";
  let description = [{
    What a `tile.contract` over (n, h, w, o | r, s, c) with the map
    (n, h + r, w + s, c) computes, in real numbers: boxes of `outputs` by
    `outputs` results, each from a box of outputs + 2 of the input, transformed
    as in Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks",
    2015. `b` are the transformed weights, one matrix per place of the
    transformed box: panels of columns, then places, channels, columns.
    `estimatedError` is the largest difference to exact sums, relative to the
    largest result, that the op's own weights and random inputs showed.
    `perWorker` says how many rows of boxes a worker takes and how many boxes of
    each, 0 for all of them; the strategy is that of the products of these, over
    (place, box, o | c).
  }];
  let arguments = (ins AnyShaped:$a, AnyShaped:$b,
                       Variadic<AnyShaped>:$epilogue, AnyShaped:$init,
                       DenseI64ArrayAttr:$parallel, I64Attr:$outputSize,
                       AffineMapArrayAttr:$maps,
                       OptionalAttr<TypedAttrInterface>:$pad,
                       F64Attr:$estimatedError,
                       DenseI64ArrayAttr:$perWorker,
                       Tile_StrategyAttr:$strategy);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `a` `(` $a `:` type($a) `)` `b` `(` $b `:` type($b) `)`
    (`epilogue` `(` $epilogue^ `:` type($epilogue) `)`)?
    `outs` `(` $init `:` type($init) `)` attr-dict-with-keyword $body
    (`->` type($outputs)^)?
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
    ::mlir::AffineMap getMap(unsigned number) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[number]).getValue();
    }
    ::mlir::AffineMap getResultMap() { return getMap(getMaps().size() - 1); }
    /// Boxes along h and w.
    int64_t getBoxes(unsigned dim) {
      return (getParallel()[dim] + getOutputSize() - 1) / getOutputSize();
    }
  }];
}

def Tile_AttentionOp : Tile_Op<"attention", [
    AttrSizedOperandSegments,
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>,
    SingleBlock]> {
  let summary = "Weighted sums of values, the weights a softmax of scores";
  let description = [{
    Three steps, in real numbers:

    1. `score`: a contraction of queries and keys, as `tile.contract` says it,
       over `scoresParallel` and `scoresReduced` at `scoresMaps`. Its parallel
       dims are those of a tensor of scores, in order; the last one counts keys.
       What its body yields goes through `hide`, with the operands behind it at
       `hideMaps`; `tile.index` is the place of a score.
    2. The weights of a row are the scores' exponentials divided by their sum.
       `weigh` gives each the type that the next product takes. A row of nothing
       but negative infinities has NaN for weights, with `zeroRows` zero.
    3. A contraction of weights and values over `parallel` and `reduced`, the
       keys, at `maps`: those of weights and values, of the epilogue's operands
       and of the result.

    `levels` say how it is computed: a `grid` shares out parallel dims among
    workers, a `loop` takes so many keys at a time. Without a loop, a worker has
    the scores of all keys of its rows at once; with one, it has those of one
    tile, and corrects what it has summed as larger scores come (online softmax:
    Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018).
    `scoresStrategy` and `strategy` are those of the two products, for what one
    worker has at a time. With a `group` behind the loop, they say how its groups
    have scores and sums in fragments, from one tile of keys to the next, and
    weights as they come are the second product's a: nothing of that goes through
    memory, and tiles may reach beyond the last row and key.

    A `grid` in front of a group may share out the loop's keys as well, for where
    there are fewer rows than workers (Dao et al., "Flash-Decoding", 2023). What
    is stored then is for somebody else to merge: the destination has a dim more
    in front, with the weighted sums of each part of the keys, not divided yet,
    and one more place along it. There, column 2p of a row is the largest score
    of part p, negative infinity where it sees no key, and column 2p + 1 the sum
    of its exponentials. Such an op has no epilogue.

    ```mlir
    %y = tile.attention queries(%q : tensor<8x128x64xf32>) keys(%k : tensor<8x128x64xf32>)
        values(%v : tensor<8x128x64xf32>) outs(%d : tensor<8x128x64xf32>)
        attributes {
          scoresParallel = array<i64: 8, 128, 128>, scoresReduced = array<i64: 64>,
          scoresMaps = [affine_map<(h, q, s, d) -> (h, q, d)>, affine_map<(h, q, s, d) -> (h, s, d)>],
          hideMaps = [], parallel = array<i64: 8, 128, 64>, reduced = array<i64: 128>,
          maps = [affine_map<(h, q, v, s) -> (h, q, s)>, affine_map<(h, q, v, s) -> (h, s, v)>,
                  affine_map<(h, q, v) -> (h, q, v)>],
          levels = [#tile.level<grid core [1, 32, _ | _]>, #tile.level<loop [_, _, _ | 64] order [3]>]}
        score { ^bb0(%sum: f32): tile.yield %sum : f32 }
        hide { ^bb0(%score: f32): tile.yield %score : f32 }
        weigh { ^bb0(%w: f32): tile.yield %w : f32 }
        body { ^bb0(%sum: f32): tile.yield %sum : f32 } -> tensor<8x128x64xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$queries, AnyShaped:$keys, AnyShaped:$values,
                       Variadic<AnyShaped>:$scoring,
                       Variadic<AnyShaped>:$hiding,
                       Variadic<AnyShaped>:$epilogue, AnyShaped:$init,
                       DenseI64ArrayAttr:$scoresParallel,
                       DenseI64ArrayAttr:$scoresReduced,
                       AffineMapArrayAttr:$scoresMaps,
                       AffineMapArrayAttr:$hideMaps,
                       DenseI64ArrayAttr:$parallel, DenseI64ArrayAttr:$reduced,
                       AffineMapArrayAttr:$maps, UnitAttr:$zeroRows,
                       OptionalAttr<TypedArrayAttrBase<Tile_LevelAttr,
                           "levels of a strategy">>:$levels,
                       OptionalAttr<Tile_StrategyAttr>:$scoresStrategy,
                       OptionalAttr<Tile_StrategyAttr>:$strategy);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$score, SizedRegion<1>:$hide,
                        SizedRegion<1>:$weigh, SizedRegion<1>:$body);
  let assemblyFormat = [{
    `queries` `(` $queries `:` type($queries) `)`
    `keys` `(` $keys `:` type($keys) `)`
    `values` `(` $values `:` type($values) `)`
    (`scoring` `(` $scoring^ `:` type($scoring) `)`)?
    (`hiding` `(` $hiding^ `:` type($hiding) `)`)?
    (`epilogue` `(` $epilogue^ `:` type($epilogue) `)`)?
    `outs` `(` $init `:` type($init) `)` attr-dict-with-keyword
    `score` $score `hide` $hide `weigh` $weigh `body` $body
    (`->` type($outputs)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
    ::mlir::AffineMap getMap(unsigned number) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[number]).getValue();
    }
    /// Where the weights lie: over `parallel` and `reduced`.
    ::mlir::AffineMap getWeightsMap() { return getMap(0); }
    ::mlir::AffineMap getValuesMap() { return getMap(1); }
    ::mlir::AffineMap getResultMap() { return getMap(getMaps().size() - 1); }
    /// Whether `hide` yields anything but the score it is given.
    bool hidesScores();
    /// What scores are in, and the exponentials and sums of them.
    ::mlir::Type getScoreType();
    /// What the second product takes.
    ::mlir::Type getWeightType();
    /// What the levels of this kind leave of a dim, parallel or keys; 0: all.
    int64_t getTile(LevelKind kind, unsigned dim);
    /// The dim of keys, behind the parallel ones, that a loop cuts; none: there
    /// is no loop.
    std::optional<unsigned> getKeyLoop();
    /// Whether groups hold scores and sums.
    bool hasGroup();
    void removeLevels(LevelKind kind);
    /// What cuts of parallel dims leave of the dims of scores.
    ::llvm::SmallVector<Cut> getCutsOfScores(::llvm::ArrayRef<Cut> cuts);
    /// The operands in order, each with its map: over the dims of scores, or
    /// those of the result and keys.
    void forEachOperand(::llvm::function_ref<
        void(::mlir::Value, ::mlir::AffineMap, bool isOfScores)> visit);
    /// Lets scores that are parts of others have places among all of them.
    void offsetIndices(::mlir::OpBuilder &b, ::llvm::ArrayRef<Cut> cuts);
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Terminator, Pure, ReturnLike,
    ParentOneOf<["AttentionOp", "ContractOp", "DrainOp", "MapOp", "ReduceOp",
                 "WinogradOp"]>]> {
  let summary = "The value that an epilogue stores, or a body makes";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Tile_IndexOp : Tile_Op<"index", [
    Pure, ParentOneOf<["AttentionOp", "MapOp"]>]> {
  let summary = "The place of a score, or of an element of an accumulator";
  let arguments = (ins ConfinedAttr<I64Attr, [IntMinValue<0>]>:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict";
  let hasVerifier = 1;
}

class Tile_RowReductionOp<string mnemonic, string what>
    : Tile_Op<mnemonic, [Pure, AllTypesMatch<["value", "result"]>,
                         ParentOneOf<["ContractOp"]>]> {
  let summary = "The " # what # " of a row's values";
  let description = "One value for all points of a `tile.contract` that differ "
                    "in `dims`, parallel ones, alone: the " # what # [{ of what
    `value` is at each of them, in an order that the device chooses.

    ```mlir
    %m = tile.}] # mnemonic # [{ %x over [3] : f32
    ```
  }];
  let arguments = (ins AnyFloat:$value, DenseI64ArrayAttr:$dims);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = "$value `over` $dims attr-dict `:` type($value)";
  let hasVerifier = 1;
}
def Tile_RowSumOp : Tile_RowReductionOp<"row_sum", "sum">;
def Tile_RowMaximumOp : Tile_RowReductionOp<"row_maximum", "largest">;

def Tile_PackOp : Tile_Op<"pack", [Pure]> {
  let summary = "A weight in panels, as a kernel reads it";
  let description = [{
    The result's dims are panels of the source's dim `columns`, then the
    source's other dims in the order `order`, then the columns of one panel.
    What lies behind the last column is zero. With a `group`, that many terms of
    the last dim of `order`, which they divide, lie side by side for each column.

    ```mlir
    // 64x3x3x64 (o, r, s, c) becomes 2x3x3x64x32.
    %p = tile.pack %w columns = 0 order = [1, 2, 3]
      : tensor<64x3x3x64xf32> to tensor<2x3x3x64x32xf32>
    // In pairs of channels.
    %q = tile.pack %v columns = 0 order = [1, 2, 3] group = 2
      : tensor<64x3x3x64xbf16> to tensor<2x3x3x32x32x2xbf16>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, I64Attr:$columns,
                       DenseI64ArrayAttr:$order, OptionalAttr<I64Attr>:$group);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `columns` `=` $columns `order` `=` $order (`group` `=` $group^)?
    attr-dict `:` type($source) `to` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The constant that this is when its source is `source`, or null.
    PackedAttr getPacked(::mlir::TypedAttr source);
  }];
}

def Tile_Readable : AnyTypeOf<[AnyMemRef, Tile_SlotType]>;
def Tile_Factor : AnyTypeOf<[AnyMemRef, Tile_SlotType, Tile_AccType]>;

def Tile_AllocOp : Tile_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "A ring of slots near the arithmetic";
  let description = [{
    Outlives the loops around its copies.

    ```mlir
    %ring = tile.alloc : !tile.ring<1, 64x32xf32, "l2">
    ```
  }];
  let results = (outs Tile_RingType:$ring);
  let assemblyFormat = "attr-dict `:` type($ring)";
}

def Tile_CopyOp : Tile_Op<"copy",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     TypesMatchWith<"a slot of the ring", "ring", "slot",
                    "::llvm::cast<RingType>($_self).getSlotType()">]> {
  let summary = "Takes the ring's next slot and begins to fill it";
  let description = [{
    Waits while no slot is free. Each element of the slot is the element of the
    source at `map`, once the token has been waited for; until then both belong
    to whatever copies: the `engine` of that name, or the worker itself. Of a
    source that is a slot, `map` counts from the offsets behind it on. With
    `padded`, what lies outside of the source is zero.

    Where slot and token stay in one iteration of a loop, or in roles of one,
    there are one `tile.wait` for the token, before all that reads the slot, and
    one `tile.release`, after it: such programs are written as if nothing
    overlapped, and who lets copies run ahead does so by the ring's slots. A
    slot that another role fetches by `tile.take` is that role's to release.

    `multicast`: all workers of the innermost scf.forall around it, or, where
    that says `tile.cluster`, so many neighbours, begin this copy as often, of
    the same elements, each of a share, and each gets all of them. It waits
    until all of them have a free slot, and its token until all have begun.

    ```mlir
    %panel, %t = tile.copy %b to %ring {map = affine_map<(k, n) -> (n, k)>}
      : memref<32x64xf32> to !tile.ring<1, 64x32xf32>
    tile.wait %t
    %1 = tile.step %0, %a, %panel ...
    tile.release %panel : !tile.slot<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_Readable:$source, Variadic<Index>:$offsets,
                       Tile_RingType:$ring, AffineMapAttr:$map,
                       UnitAttr:$padded, OptionalAttr<StrAttr>:$engine,
                       UnitAttr:$multicast);
  let results = (outs Tile_SlotType:$slot, Tile_TokenType:$token);
  let assemblyFormat = [{
    $source (`[` $offsets^ `]`)? `to` $ring attr-dict `:` type($source) `to` type($ring)
  }];
  let hasVerifier = 1;
}

def Tile_TakeOp : Tile_Op<"take",
    [MemoryEffects<[MemRead, MemWrite]>,
     TypesMatchWith<"a slot of the ring", "ring", "slot",
                    "::llvm::cast<RingType>($_self).getSlotType()">]> {
  let summary = "The next slot that another role has filled";
  let description = [{
    Slots come in the order of their copies; waits until that copy is done. For
    roles that run side by side and are joined by the ring.

    ```mlir
    %panel = tile.take %ring : !tile.ring<2, 64x32xf32>
    ```
  }];
  let arguments = (ins Tile_RingType:$ring);
  let results = (outs Tile_SlotType:$slot);
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
  let hasVerifier = 1;
}

class Tile_TurnOp<string mnemonic> : Tile_Op<mnemonic, [
    MemoryEffects<[MemRead, MemWrite]>]>;

def Tile_TakeTurnOp : Tile_TurnOp<"take_turn"> {
  let summary = "Goes on when the group's turn has come";
  let description = [{
    The `groups` of a role take turns, the first one first: what a group issues
    up to `tile.pass_turn` others do not issue meanwhile, so that one computes
    while steps of another keep the unit busy. All groups have the same turns.
    Of who is no role, it says nothing.

    ```mlir
    tile.take_turn 2
    %1, %t = tile.step %0, %a, %b ...
    tile.pass_turn 2
    ```
  }];
  let arguments = (ins I64Attr:$groups);
  let assemblyFormat = "$groups attr-dict";
}

def Tile_PassTurnOp : Tile_TurnOp<"pass_turn"> {
  let summary = "It is the next group's turn";
  let description = [{
    See `tile.take_turn`.
  }];
  let arguments = (ins I64Attr:$groups);
  let assemblyFormat = "$groups attr-dict";
}

def Tile_ViewOp : Tile_Op<"view", [Pure]> {
  let summary = "A slot as memory";
  let description = [{
    ```mlir
    %m = tile.view %panel : !tile.slot<64x32xf32> to memref<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_SlotType:$slot);
  let results = (outs AnyMemRef:$memory);
  let assemblyFormat = "$slot attr-dict `:` type($slot) `to` type($memory)";
  let hasVerifier = 1;
}

def Tile_WaitOp : Tile_Op<"wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Goes on when what the tokens stand for is done";
  let arguments = (ins Variadic<Tile_TokenType>:$tokens);
  let assemblyFormat = "$tokens attr-dict";
  let hasVerifier = 1;
}

def Tile_ReleaseOp : Tile_Op<"release", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Gives a slot back to its ring";
  let description = [{
    Never waits. The slot is free as soon as all that was begun before and reads
    it has ended; with `after`, as soon as these tokens have, which must be all
    that still read it.

    ```mlir
    tile.release %panel after %done : !tile.slot<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_SlotType:$slot, Variadic<Tile_TokenType>:$after);
  let assemblyFormat = "$slot (`after` $after^)? attr-dict `:` type($slot)";
}

def Tile_RoleOp : Tile_Op<"role", [
    RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"::ashlar::tile::HandOverOp">]> {
  let summary = "The part of an iteration that one engine or group does";
  let description = [{
    Roles of a loop's body are done one after the other within an iteration.
    Between iterations each goes on by itself: a role may begin its next one
    while later roles are still at work on this one, as far as the rings that it
    fills have slots that were released. What it hands over to later roles are
    slots and tokens. In other words: a pipeline, whose depth the rings decide,
    and whose meaning is the loop without the roles.

    Roles that are `concurrent` stand behind each other in one block, run side
    by side from their beginnings, and hand over nothing: each has its own
    loops, and rings join them. What follows them begins when all have ended.
    `team`, of those alone, says who does it.

    ```mlir
    %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%acc = %0) -> ... {
      %s, %t = tile.role "producer" {
        %slot, %begun = tile.copy %b to %ring ...
        tile.hand_over %slot, %begun : memref<64x32xf32>, !tile.token
      } : memref<64x32xf32>, !tile.token
      %next = tile.role "consumer" {
        tile.wait %t
        %1 = tile.step %acc, %a, %s ...
        tile.release %s : memref<64x32xf32>
        tile.hand_over %1 : !tile.acc<14x32xf32>
      } : !tile.acc<14x32xf32>
      scf.yield %next : !tile.acc<14x32xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, UnitAttr:$concurrent,
                       OptionalAttr<Tile_TeamAttr>:$team);
  let results = (outs Variadic<AnyType>:$handed);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name (`concurrent` $concurrent^)? (`by` $team^)? attr-dict-with-keyword $body
    (`:` type($handed)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    HandOverOp getHandOver();
  }];
}

def Tile_HandOverOp : Tile_Op<"hand_over", [
    Terminator, Pure, ReturnLike, HasParent<"RoleOp">]> {
  let summary = "What later roles get";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ }]>];
}

def Tile_InitOp : Tile_Op<"init", [Pure]> {
  let summary = "An accumulator that holds one value";
  let description = [{
    ```mlir
    %acc = tile.init %zero : f32 to !tile.acc<14x32xf32>
    ```
  }];
  let arguments = (ins AnyType:$value);
  let results = (outs Tile_AccType:$acc);
  let assemblyFormat = "$value attr-dict `:` type($value) `to` type($acc)";
  let hasVerifier = 1;
}

def Tile_LoadOp : Tile_Op<"load",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "An accumulator that holds what lies in memory";
  let description = [{
    The map is over the accumulator's dims. With `padded`, what lies outside of
    the memory is zero.

    ```mlir
    %acc = tile.load %part {map = affine_map<(m, n) -> (0, m, n)>}
      : memref<1x14x32xf32> to !tile.acc<14x32xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, AffineMapAttr:$map,
                       UnitAttr:$padded);
  let results = (outs Tile_AccType:$acc);
  let assemblyFormat = "$memory attr-dict `:` type($memory) `to` type($acc)";
  let hasVerifier = 1;
}

def Tile_AddOp : Tile_Op<"add", [Pure, AllTypesMatch<["total", "part", "sum"]>]> {
  let summary = "The sum of two accumulators";
  let arguments = (ins Tile_AccType:$total, Tile_AccType:$part);
  let results = (outs Tile_AccType:$sum);
  let assemblyFormat = "$total `,` $part attr-dict `:` type($sum)";
}

def Tile_Mapped : AnyTypeOf<[AnyMemRef, Tile_AccType]>;

def Tile_MapOp : Tile_Op<"map", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, SingleBlock]> {
  let summary = "An accumulator, element by element from others and memory";
  let description = [{
    The body gets one element of each operand, at its map over the result's
    dims, and yields the element there; a map that leaves out a dim repeats the
    operand along it. `tile.index` is the place of the element. With `padded`,
    what lies outside of memory is zero.

    ```mlir
    %e = tile.map %scores, %largest maps [#all, #row]
        : !tile.acc<4x64xf32>, !tile.acc<4x1xf32> -> !tile.acc<4x64xf32> {
    ^bb0(%x: f32, %m: f32):
      %d = arith.subf %x, %m : f32
      %z = math.exp %d : f32
      tile.yield %z : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Mapped>:$inputs,
                       AffineMapArrayAttr:$maps, UnitAttr:$padded);
  let results = (outs Tile_AccType:$acc);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $inputs `maps` $maps attr-dict `:` type($inputs) `->` type($acc) $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::AffineMap getMap(unsigned number) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[number]).getValue();
    }
    YieldOp getYield();
  }];
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure, SingleBlock]> {
  let summary = "The elements of an accumulator along dims, combined";
  let description = [{
    The result has one element along `dims`. The body combines two values in one
    and must be associative and commutative: in which order elements are
    combined is the machine's choice, always the same.

    ```mlir
    %s = tile.reduce %e over [1] : !tile.acc<4x64xf32> -> !tile.acc<4x1xf32> {
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      tile.yield %z : f32
    }
    ```
  }];
  let arguments = (ins Tile_AccType:$acc, DenseI64ArrayAttr:$dims);
  let results = (outs Tile_AccType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $acc `over` $dims attr-dict `:` type($acc) `->` type($result) $body
  }];
  let hasVerifier = 1;
}

def Tile_StepOp : Tile_Op<"step", [
    AttrSizedOperandSegments,
    AllTypesMatch<["acc", "result"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Multiply and accumulate over a box";
  let description = [{
    For each point of the accumulator's box and of `reduced`, adds the product
    of a and b at their maps to the accumulator. Maps are over the
    accumulator's dims, then the reduced ones, and are linear. A step that is
    `grouped` adds all terms of its last reduced dim at once, as `tile.dot`
    does; there both operands move by one element along that dim, a stands
    still along the lanes, and b's lanes follow each other. With `ahead`, each
    term first asks for the row of b that so many terms later need, along the
    innermost reduced dim; that changes no value. Where sums are in registers of
    a matrix unit, `unroll` groups of terms are one product of it.

    An operand that is a slot is read from the offsets behind it on. a may be an
    accumulator, where a unit takes it from the registers that hold it: its rows
    are those of the sums, its columns the terms. With a token, the step may go on after what follows it has begun: until the token
    has been waited for, its operands must not change, and nothing but further
    steps may use the sums. Steps on one accumulator follow each other.

    ```mlir
    %1 = tile.step %0, %a, %b {
           reduced = array<i64: 3, 64>, unroll = 4,
           aMap = affine_map<(w, o, s, c) -> (w + s, c)>,
           bMap = affine_map<(w, o, s, c) -> (s, c, o)>}
      : !tile.acc<14x32xf32>, memref<16x64xf32>, memref<3x64x32xf32>
    ```
  }];
  let arguments = (ins Tile_AccType:$acc,
                       Tile_Factor:$a, Variadic<Index>:$aOffsets,
                       Tile_Readable:$b, Variadic<Index>:$bOffsets,
                       DenseI64ArrayAttr:$reduced, I64Attr:$unroll,
                       AffineMapAttr:$aMap, AffineMapAttr:$bMap,
                       UnitAttr:$aUnsigned, UnitAttr:$bUnsigned,
                       UnitAttr:$grouped,
                       DefaultValuedAttr<I64Attr, "0">:$ahead);
  let results = (outs Tile_AccType:$result, Optional<Tile_TokenType>:$token);
  let assemblyFormat = [{
    $acc `,` $a (`[` $aOffsets^ `]`)? `,` $b (`[` $bOffsets^ `]`)? attr-dict
    `:` type($acc) `,` type($a) `,` type($b) (`->` type($token)^)?
  }];
  let builders = [
    /// Of operands that are read from where they begin, done when it ends.
    OpBuilder<(ins "::mlir::Value":$acc, "::mlir::Value":$a,
                   "::mlir::Value":$b, "::llvm::ArrayRef<int64_t>":$reduced,
                   "int64_t":$unroll, "::mlir::AffineMap":$aMap,
                   "::mlir::AffineMap":$bMap, "bool":$aUnsigned,
                   "bool":$bUnsigned, "bool":$grouped, "int64_t":$ahead)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether it reads memory, and is done when it ends.
    bool isSynchronous() {
      return !getToken() &&
             ::llvm::isa<::mlir::MemRefType>(getA().getType()) &&
             ::llvm::isa<::mlir::MemRefType>(getB().getType());
    }
    /// Whether a is an accumulator.
    bool holdsA() {
      return ::llvm::isa<::ashlar::tile::AccType>(getA().getType());
    }
  }];
}

def Tile_SettleOp : Tile_Op<"settle", [
    AllTypesMatch<["acc", "result"]>, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The sums of steps that have all ended";
  let description = [{
    Goes on when all steps that a thread has begun are done, but for the last
    `pending`, of other sums; what is read of sums afterwards is read from the
    result.

    ```mlir
    %1 = tile.settle %0 : !tile.acc<128x256xf32>
    ```
  }];
  let arguments = (ins Tile_AccType:$acc,
                       DefaultValuedAttr<I64Attr, "0">:$pending);
  let results = (outs Tile_AccType:$result);
  let assemblyFormat = "$acc attr-dict `:` type($acc)";
}

//===-- What one thread does, for a target to translate --------------------===//

def Tile_SlotOfOp : Tile_Op<"slot_of", [
    Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "The slot that lies in memory from an element on";
  let arguments = (ins AnyMemRef:$memory, Index:$place);
  let results = (outs Tile_SlotType:$slot);
  let assemblyFormat = [{
    $memory `[` $place `]` attr-dict `:` type($memory) `to` type($slot)
  }];
}

def Tile_ThreadCopyOp : Tile_Op<"thread_copy", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Begins to copy some neighbours";
  let description = [{
    `elements` of the source, from the indices on along its last dim, to as many
    of the target's, of rank 1; 16 bytes, and both places are multiples of that.
    Or 4 bytes, by threads whose places lie side by side as they are numbered.
    Zeros instead of them where `exists` is false, and behind the first `count`,
    of which there is one at least. Done when the thread has waited for the
    copies that it has closed behind it.

    ```mlir
    tile.thread_copy %x[%i, %j], %ring[%p], %inside {elements = 8}
      : memref<64x64xbf16>, memref<4096xbf16, 3>
    tile.thread_copy %x[%i, %j], %ring[%p], %inside first %count {elements = 8}
      : memref<64x63xbf16, strided<[64, 1]>>, memref<4096xbf16, 3>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$indices,
                       AnyMemRef:$target, Index:$place, Optional<I1>:$exists,
                       Optional<Index>:$count, I64Attr:$elements);
  let assemblyFormat = [{
    $source `[` $indices `]` `,` $target `[` $place `]` (`,` $exists^)?
    (`first` $count^)? attr-dict `:` type($source) `,` type($target)
  }];
}

def Tile_ThreadCloseOp : Tile_Op<"thread_close", [MemoryEffects<[MemWrite]>]> {
  let summary = "What this thread has begun to copy is one group";
  let assemblyFormat = "attr-dict";
}

def Tile_ThreadWaitOp : Tile_Op<"thread_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Goes on when at most so many groups are unfinished";
  let description = [{
    Of copies, or of `steps`. Copies are visible to this thread then, to others
    behind a barrier, and to units that read the memory by themselves.
  }];
  let arguments = (ins I64Attr:$pending, UnitAttr:$steps);
  let assemblyFormat = "(`steps` $steps^)? $pending attr-dict";
}

def Tile_Phases : MemRefOf<[I64]>;

class Tile_PhaseOp<string mnemonic> : Tile_Op<mnemonic, [
    MemoryEffects<[MemRead, MemWrite]>]>;

def Tile_PhaseBeginOp : Tile_PhaseOp<"phase_begin"> {
  let summary = "Lets a word of the workgroup's memory count arrivals";
  let description = [{
    A phase is over when so many have arrived and the bytes have come that they
    said to expect; the next one begins. Others see it behind
    `tile.phase_publish` and a barrier.

    ```mlir
    tile.phase_begin %full[%slot] of 1 : memref<4xi64, 3>
    ```
  }];
  let arguments = (ins Tile_Phases:$memory, Index:$place, I64Attr:$arrivals);
  let assemblyFormat = "$memory `[` $place `]` `of` $arrivals attr-dict `:` type($memory)";
}

def Tile_PhasePublishOp : Tile_PhaseOp<"phase_publish"> {
  let summary = "What this thread has begun to count, engines see as well";
  let assemblyFormat = "attr-dict";
}

def Tile_PhaseEndOp : Tile_PhaseOp<"phase_end"> {
  let summary = "The word is memory again";
  let arguments = (ins Tile_Phases:$memory, Index:$place);
  let assemblyFormat = "$memory `[` $place `]` attr-dict `:` type($memory)";
}

def Tile_PhaseArriveOp : Tile_PhaseOp<"phase_arrive"> {
  let summary = "This thread has come as far";
  let description = [{
    Never waits. With `expecting`, the phase ends no sooner than so many bytes
    have come by copies that name it. `at`: the word is the one in that place of
    the memory of another workgroup of the cluster, by its rank.
  }];
  let arguments = (ins Tile_Phases:$memory, Index:$place,
                       Optional<Index>:$peer,
                       DefaultValuedAttr<I64Attr, "0">:$expecting);
  let assemblyFormat = [{
    $memory `[` $place `]` (`at` $peer^)? attr-dict `:` type($memory)
  }];
}

def Tile_PhaseWaitOp : Tile_PhaseOp<"phase_wait"> {
  let summary = "Goes on when a phase is over";
  let description = [{
    Phases are told apart by whether their number is odd: 0 is the first. That
    in front of the first one is over from the beginning. What was written
    before the arrivals, and what copies brought, is seen behind it; `cluster`:
    from all workgroups of the cluster.
  }];
  let arguments = (ins Tile_Phases:$memory, Index:$place, I32:$parity,
                       UnitAttr:$cluster);
  let assemblyFormat = "$memory `[` $place `]` `,` $parity attr-dict `:` type($memory)";
}

def Tile_ThreadMeetOp : Tile_PhaseOp<"thread_meet"> {
  let summary = "A barrier of the first so many threads of a workgroup";
  let arguments = (ins I64Attr:$threads);
  let assemblyFormat = "$threads attr-dict";
}

def Tile_ThreadTurnOp : Tile_PhaseOp<"thread_turn"> {
  let summary = "A barrier for so many threads, by its number from 0 on";
  let description = [{
    A thread that only `arrives` goes on at once; others when so many are there.
  }];
  let arguments = (ins I32:$number, I64Attr:$threads, UnitAttr:$arrives);
  let assemblyFormat = "$number `of` $threads (`arrives` $arrives^)? attr-dict";
}

def Tile_ClusterMeetOp : Tile_PhaseOp<"cluster_meet"> {
  let summary = "A barrier of all threads of a cluster's workgroups";
  let assemblyFormat = "attr-dict";
}

def Tile_ClusterRankOp : Tile_Op<"cluster_rank", [Pure]> {
  let summary = "Which of its cluster's workgroups this is, from 0 on";
  let results = (outs Index:$rank);
  let assemblyFormat = "attr-dict";
}

def Tile_ThreadRegistersOp : Tile_PhaseOp<"thread_registers"> {
  let summary = "Each thread of this group has so many registers from now on";
  let arguments = (ins I64Attr:$count, UnitAttr:$more);
  let assemblyFormat = "$count (`more` $more^)? attr-dict";
}

def Tile_ThreadBoxCopyOp : Tile_Op<"thread_box_copy", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Begins to copy a box of a tensor";
  let description = [{
    The box that `map`, one of the kernel's tensor maps, says, from the places
    on, the outermost first, into the target from `place` on, row by row,
    swizzled as the map says. Zeros for what lies outside of the tensor. Its
    bytes come to the phase at `done` of `phases`. `to`: a bit for each workgroup
    of the cluster that gets it, in the same places of its own memory; 0: this
    one alone.
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$at,
                       AnyMemRef:$target, Index:$place, Tile_Phases:$phases,
                       Index:$done, I64Attr:$map,
                       DefaultValuedAttr<I64Attr, "0">:$to);
  let assemblyFormat = [{
    $source `[` $at `]` `,` $target `[` $place `]` `,` $phases `[` $done `]`
    `map` $map attr-dict `:` type($source) `,` type($target) `,` type($phases)
  }];
}

def Tile_ThreadStepOp : Tile_Op<"thread_step", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead]>]> {
  let summary = "What a thread holds of a step of a unit with fragments";
  let description = [{
    `tile.step` once accumulators are the values of threads: `type` is the
    accumulator's, `held` what the thread holds of a where that is one, `begin` where the part of the thread's group begins, `lane`
    the thread's number in it. `asynchronous`: closes a group of steps and goes
    on.
  }];
  let arguments = (ins Index:$lane, Variadic<Index>:$begin,
                       Variadic<AnyType>:$values, Variadic<AnyType>:$held,
                       Optional<Tile_SlotType>:$a,
                       Variadic<Index>:$aOffsets, Tile_SlotType:$b,
                       Variadic<Index>:$bOffsets, TypeAttrOf<Tile_AccType>:$type,
                       DenseI64ArrayAttr:$reduced, AffineMapAttr:$aMap,
                       AffineMapAttr:$bMap, UnitAttr:$aUnsigned,
                       UnitAttr:$bUnsigned, UnitAttr:$asynchronous);
  let results = (outs Variadic<AnyType>:$sums);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $lane `at` `[` $begin `]` `(` $values `:` type($values) `)`
    (`held` `(` $held^ `:` type($held) `)`)?
    (`a` $a^ `[` $aOffsets `]` `:` type($a))?
    `b` $b `[` $bOffsets `]` attr-dict `:` type($b) `->` type($sums)
  }];
}

def Tile_ThreadSettleOp : Tile_Op<"thread_settle", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Values of a thread once its steps have ended";
  let description = [{
    All of them but for the last `pending`, which use other values.
  }];
  let arguments = (ins Variadic<AnyType>:$values,
                       DefaultValuedAttr<I64Attr, "0">:$pending);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat =
      "$values attr-dict `:` type($values) `->` type($results)";
}

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>,
    AllTypesMatch<["a", "b"]>]> {
  let summary = "Products of groups of lanes, added to one lane each";
  let description = [{
    Lane i of the result is lane i of the accumulator plus the products of the
    g lanes of a and b from i * g on, all converted to the accumulator's type
    first; g is how many times as many lanes a and b have. A target has an
    instruction for it where its machine model names such a unit; rounding
    between the products of a group is the unit's own.

    ```mlir
    %1 = tile.dot %0, %a, %b : vector<16xf32>, vector<32xbf16>
    %3 = tile.dot %2, %u, %s {aUnsigned} : vector<16xi32>, vector<64xi8>
    ```
  }];
  let arguments = (ins AnyVectorOfNonZeroRank:$acc, AnyVectorOfNonZeroRank:$a,
                       AnyVectorOfNonZeroRank:$b,
                       UnitAttr:$aUnsigned, UnitAttr:$bUnsigned);
  let results = (outs AnyVectorOfNonZeroRank:$result);
  let assemblyFormat = [{
    $acc `,` $a `,` $b attr-dict `:` type($acc) `,` type($a)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Lanes of a and b to a lane of the sums.
    int64_t getGroup() {
      return getA().getType().getDimSize(0) / getAcc().getType().getDimSize(0);
    }
  }];
}

def Tile_MatrixZeroOp : Tile_Op<"matrix_zero", [Pure]> {
  let summary = "A register of a matrix unit full of zeros";
  let description = [{
    ```mlir
    %0 = tile.matrix_zero : !tile.matrix<16x16xf32>
    ```
  }];
  let results = (outs Tile_MatrixType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_MatrixLoadOp : Tile_Op<"matrix_load", [MemoryEffects<[MemRead]>]> {
  let summary = "Rows of memory into a register of a matrix unit";
  let description = [{
    Row i is the elements from `place + i * stride` on, of one line of memory.

    ```mlir
    %a = tile.matrix_load %line[%place] stride = 768
      : memref<?xbf16> to !tile.matrix<16x32xbf16>
    ```
  }];
  let arguments = (ins Arg<MemRefRankOf<[AnyType], [1]>, "", [MemRead]>:$memory,
                       Index:$place, I64Attr:$stride);
  let results = (outs Tile_MatrixType:$result);
  let assemblyFormat = [{
    $memory `[` $place `]` `stride` `=` $stride attr-dict
    `:` type($memory) `to` type($result)
  }];
}

def Tile_MatrixStoreOp : Tile_Op<"matrix_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "A register of a matrix unit into rows of memory";
  let description = [{
    ```mlir
    tile.matrix_store %0 to %line[%place] stride = 32
      : !tile.matrix<16x16xf32> to memref<?xf32>
    ```
  }];
  let arguments = (ins Tile_MatrixType:$value,
                       Arg<MemRefRankOf<[AnyType], [1]>, "", [MemWrite]>:$memory,
                       Index:$place, I64Attr:$stride);
  let assemblyFormat = [{
    $value `to` $memory `[` $place `]` `stride` `=` $stride attr-dict
    `:` type($value) `to` type($memory)
  }];
}

def Tile_MatrixMultiplyOp : Tile_Op<"matrix_multiply", [Pure,
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "The product of two registers of a matrix unit, added to a third";
  let description = [{
    Element (i, j) of the result is that of the accumulator plus the products of
    row i of a with column j of b, all converted to the accumulator's type
    first. A row of b holds groups of g terms, one for each column; g is how
    many times as many columns b has as the accumulator. Rounding inside is the
    unit's own.

    ```mlir
    %1 = tile.matrix_multiply %0, %a, %b
      : !tile.matrix<16x16xf32>, !tile.matrix<16x32xbf16>, !tile.matrix<16x32xbf16>
    ```
  }];
  let arguments = (ins Tile_MatrixType:$acc, Tile_MatrixType:$a,
                       Tile_MatrixType:$b,
                       UnitAttr:$aUnsigned, UnitAttr:$bUnsigned);
  let results = (outs Tile_MatrixType:$result);
  let assemblyFormat = [{
    $acc `,` $a `,` $b attr-dict `:` type($acc) `,` type($a) `,` type($b)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Terms side by side in a row of b.
    int64_t getGroup() {
      return getB().getType().getColumns() / getAcc().getType().getColumns();
    }
  }];
}

def Tile_DrainOp : Tile_Op<"drain", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, SingleBlock]> {
  let summary = "Puts an accumulator through the epilogue into memory";
  let description = [{
    For each element of the accumulator: the body gets it and the epilogue's
    operands at their maps, and what it yields is stored at the result's map.
    Maps are over the accumulator's dims. With `clipped`, elements whose place
    lies outside of the target are left out.

    ```mlir
    tile.drain %acc epilogue(%bias : memref<32xf32>) to %d : memref<14x32xf32>
      attributes {maps = [affine_map<(w, o) -> (o)>, affine_map<(w, o) -> (w, o)>]} {
    ^bb0(%sum: f32, %p: f32):
      %z = arith.addf %sum, %p : f32
      tile.yield %z : f32
    } : !tile.acc<14x32xf32>
    ```
  }];
  let arguments = (ins Tile_AccType:$acc, Variadic<AnyMemRef>:$epilogue,
                       AnyMemRef:$target, AffineMapArrayAttr:$maps,
                       UnitAttr:$clipped);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $acc (`epilogue` `(` $epilogue^ `:` type($epilogue) `)`)?
    `to` $target `:` type($target) attr-dict-with-keyword $body `:` type($acc)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::AffineMap getMap(unsigned number) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[number]).getValue();
    }
    YieldOp getYield();
  }];
}

#endif // ASHLAR_DIALECTS_TILE_IR_TILEOPS_TD
