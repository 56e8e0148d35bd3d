// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_DIALECTS_TILE_IR_TILEDIALECT_TD
#define ASHLAR_DIALECTS_TILE_IR_TILEDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let summary = "The tile program of a contraction";
  let description = [{
    Every contraction (matrix products, convolutions, the products of
    attention) is a grid of result boxes; each is a sequence of pairs of an A
    box and a B box, whose addresses are affine in the loop counters, multiplied
    and added into an accumulator that stays where the arithmetic is.

    Three levels say so, each meaning the same numbers:

    1. `tile.contract` says what is computed, on tensors or memrefs;
    2. `#tile.strategy` on it says how: levels of tiles, their loops, hops of
       operands, the accumulator;
    3. the expanded program: loops around `tile.init`, `tile.step`, `tile.add`
       and `tile.drain`, whose accumulators are SSA values of type `!tile.acc`;
       what is brought near first is `tile.copy`ed into slots of a `!tile.ring`.

    Nothing here names a machine. A target translates level 3; whatever decides
    does so earlier, in `#tile.strategy`, and reads the machine model.
  }];
  let cppNamespace = "::ashlar::tile";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

def Tile_LevelKind : I32EnumAttr<"LevelKind", "Who walks a level's tiles", [
    I32EnumAttrCase<"Grid", 0, "grid">,
    I32EnumAttrCase<"Loop", 1, "loop">,
    I32EnumAttrCase<"Group", 2, "group">]> {
  let cppNamespace = "::ashlar::tile";
  let genSpecializedAttr = 0;
}

def Tile_LevelAttr : AttrDef<Tile_Dialect, "Level"> {
  let mnemonic = "level";
  let summary = "One level of a strategy's tiles";
  let description = [{
    A size per dim of the contraction, parallel dims before the bar; 0, printed
    `_`, where the level does not cut the dim: its tile is that of the level
    above, or all of it. A `grid` level shares its tiles among instances of
    `scope`; a `loop` level walks those of the dims of `order`, outermost first;
    a `group` level says which part of one accumulator each instance of `scope`
    holds, of those that compute it together.

    ```mlir
    #tile.level<grid core [126, _ | _]>
    #tile.level<loop [14, 32 | 512] order [0, 2]>
    #tile.level<group warpgroup [64, 256 | _]>
    ```
  }];
  let parameters = (ins EnumParameter<Tile_LevelKind>:$kind,
                        StringRefParameter<"who computes">:$scope,
                        ArrayRefParameter<"int64_t">:$parallel,
                        ArrayRefParameter<"int64_t">:$reduced,
                        ArrayRefParameter<"int64_t">:$order);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Parallel dims first; 0: not cut here.
    int64_t getTile(unsigned dim) const {
      return dim < getParallel().size()
                 ? getParallel()[dim]
                 : getReduced()[dim - getParallel().size()];
    }
    unsigned getNumDims() const {
      return getParallel().size() + getReduced().size();
    }
  }];
}

def Tile_FragmentAttr : AttrDef<Tile_Dialect, "Fragment"> {
  let mnemonic = "fragment";
  let summary = "Which elements of a unit's sums each thread holds";
  let description = [{
    A linear layout over bits: bit i of the number of a value of a thread moves
    its element by the i-th pair of `registers`, rows then columns, bit i of the
    thread's number in its group by the i-th pair of `lanes`. Pairs are powers of
    two along one of the two and meet each bit once, so a fragment is a rectangle
    that values and lanes cover; a pair of zeros among `lanes` says that both
    lanes hold the same. `in_flight`: steps that may be unfinished while
    the next one begins; the unit goes on by itself.

    ```mlir
    // 16x8 sums of 32 threads.
    #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>
    // One number for each row of them, which four lanes have.
    #tile.fragment<registers [8, 0], lanes [0, 0, 0, 0, 1, 0, 2, 0, 4, 0]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$registers,
                        ArrayRefParameter<"int64_t">:$lanes,
                        DefaultValuedParameter<"int64_t", "0">:$inFlight);
  let assemblyFormat = [{
    `<` `registers` `[` $registers `]` `,` `lanes` `[` $lanes `]`
    (`,` `in_flight` $inFlight^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Of the rectangle.
    int64_t getRows() const { return getExtent(0); }
    int64_t getColumns() const { return getExtent(1); }
    /// Values of a thread, and threads.
    int64_t getCount() const { return int64_t(1) << getRegisters().size() / 2; }
    int64_t getThreads() const { return int64_t(1) << getLanes().size() / 2; }
    /// Of one number for each row: its threads are those that hold the row.
    FragmentAttr getRowsAlone() const;
    /// Which value of `getRowsAlone` is of the row of value `i`.
    int64_t getRowAlone(int64_t i) const;

  private:
    int64_t getExtent(unsigned side) const;

  public:
  }];
}

def Tile_AccType : TypeDef<Tile_Dialect, "Acc"> {
  let mnemonic = "acc";
  let summary = "A box of partial sums, where the arithmetic is";
  let description = [{
    Vector registers on a CPU, registers of a group of threads, accumulator
    memory of an array. Static, at least one dim; lanes run along the last.
    Where a matrix unit has registers of its own for sums, the type says how
    many rows and columns one holds. Where several threads or arrays hold it
    together, `groups` says which part of it each instance of a scope has,
    outermost scope first: parts are numbered row by row, those at the end may
    be smaller. Where a unit says which element is whose, the part is covered by
    copies of its `fragment`, row by row: rows are all dims but the last.

    ```mlir
    !tile.acc<14x32xf32>
    !tile.acc<32x32xf32, registers = [16, 16]>
    !tile.acc<128x256xf32, groups = [group warpgroup [64, 256]]>
    !tile.acc<32x64xf32, fragment = #tile.fragment<registers [0, 1, 8, 0], lanes [0, 2, 0, 4, 1, 0, 2, 0, 4, 0]>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType,
                        OptionalArrayRefParameter<"int64_t">:$registers,
                        OptionalArrayRefParameter<"::ashlar::tile::LevelAttr">:$groups,
                        OptionalParameter<"::ashlar::tile::FragmentAttr">:$fragment);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// What one of the innermost groups has; all where there are none.
    ::llvm::SmallVector<int64_t> getPart() const;
    /// The accumulator with one column, of the same threads: what a reduction
    /// along rows gives them. Of one with a fragment.
    AccType getRowsAlone() const;
  }];
}

def Tile_MatrixType : TypeDef<Tile_Dialect, "Matrix"> {
  let mnemonic = "matrix";
  let summary = "A register of a matrix unit, or a part of one";
  let description = [{
    Rows and what one row holds. Where the unit multiplies groups of terms, a
    row of its right operand holds one group for each column.

    ```mlir
    !tile.matrix<14x32xbf16>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$elementType);
  let assemblyFormat = "`<` custom<MatrixShape>($rows, $columns, $elementType) `>`";
  let genVerifyDecl = 1;
}

def Tile_LayoutAttr : AttrDef<Tile_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "Where the elements of a slot lie";
  let description = [{
    - `order`: the dims, outermost first; none: as they are numbered;
    - `pad`: elements that lie unused behind those of each dim; none: no;
    - `block`: the last dim is cut into blocks of so many elements, which they
      divide; each is a slot of its own, one behind the other; 0: it is not;
    - `swizzle [bits, base, shift]`: the place p that order and pad give becomes
      p xor ((p >> shift) & mask), the mask being `bits` ones from bit `base`
      on: rows that lie a power of two apart begin in different banks.

    All are counted in elements.

    ```mlir
    #tile.layout<order [1, 0], pad [0, 8]>
    #tile.layout<block 64, swizzle [3, 3, 3]>
    ```
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$order,
                        OptionalArrayRefParameter<"int64_t">:$pad,
                        OptionalArrayRefParameter<"int64_t">:$swizzle,
                        DefaultValuedParameter<"int64_t", "0">:$block);
  let builders = [
    AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$order,
                     "::llvm::ArrayRef<int64_t>":$pad,
                     "::llvm::ArrayRef<int64_t>":$swizzle), [{
      return $_get($_ctxt, order, pad, swizzle, /*block=*/0);
    }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// What does not fit a slot of this shape, or nothing.
    std::string whyNot(::llvm::ArrayRef<int64_t> shape) const;
    /// Whether strides alone say where elements lie.
    bool isStrided() const { return getSwizzle().empty() && getBlock() == 0; }
    /// How far neighbours along each dim lie apart within a block, before the
    /// swizzle.
    ::llvm::SmallVector<int64_t> getStrides(
        ::llvm::ArrayRef<int64_t> shape) const;
    /// The elements that a slot takes.
    int64_t getSize(::llvm::ArrayRef<int64_t> shape) const;
    int64_t getPlace(::llvm::ArrayRef<int64_t> index,
                     ::llvm::ArrayRef<int64_t> shape) const;
  }];
}

def Tile_RingType : TypeDef<Tile_Dialect, "Ring"> {
  let mnemonic = "ring";
  let summary = "Memory near the arithmetic, in slots that copies take in turn";
  let description = [{
    How many slots, then what one holds, static; then the memory's name in the
    machine's model, left out where the target may choose, and the layout, left
    out where elements lie row by row.

    ```mlir
    !tile.ring<3, 128x64xbf16, "shared", #tile.layout<swizzle [3, 3, 3]>>
    ```
  }];
  let parameters = (ins "int64_t":$slots, ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType,
                        OptionalParameter<"::mlir::StringAttr">:$memory,
                        OptionalParameter<"::ashlar::tile::LayoutAttr">:$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// More than any machine has barriers for.
    static constexpr int64_t mostSlots = 65536;
    SlotType getSlotType() const;
  }];
}

def Tile_SlotType : TypeDef<Tile_Dialect, "Slot", [ShapedTypeInterface]> {
  let mnemonic = "slot";
  let summary = "One slot of a ring, with what was copied to it";
  let description = [{
    Not a memref, whose reads would not know a swizzle: `tile.step` reads it by
    its dims, `tile.view` makes a memref of one without swizzle and blocks.

    ```mlir
    !tile.slot<128x64xbf16, "shared">
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType,
                        OptionalParameter<"::mlir::StringAttr">:$memory,
                        OptionalParameter<"::ashlar::tile::LayoutAttr">:$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool hasRank() const { return true; }
    SlotType cloneWith(std::optional<::llvm::ArrayRef<int64_t>> shape,
                       ::mlir::Type elementType) const {
      return get(getContext(), shape.value_or(getShape()), elementType,
                 getMemory(), getLayout());
    }
    /// The elements that it takes, with those that the layout leaves unused.
    int64_t getSize() const {
      return getLayout() ? getLayout().getSize(getShape()) : getNumElements();
    }
    /// What `tile.view` gives; null where there are a swizzle or blocks.
    ::mlir::MemRefType getView() const;
  }];
}

def Tile_TokenType : TypeDef<Tile_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "That something has been begun, to be waited for";
}

def Tile_HopKind : I32EnumAttr<"HopKind", "How an operand comes near", [
    I32EnumAttrCase<"Pack", 0, "pack">,
    I32EnumAttrCase<"Prefetch", 1, "prefetch">,
    I32EnumAttrCase<"Ring", 2, "ring">]> {
  let cppNamespace = "::ashlar::tile";
  let genSpecializedAttr = 0;
}

def Tile_OperandKind : I32EnumAttr<"OperandKind", "An operand of a contraction", [
    I32EnumAttrCase<"A", 0, "a">,
    I32EnumAttrCase<"B", 1, "b">]> {
  let cppNamespace = "::ashlar::tile";
  let genSpecializedAttr = 0;
}

def Tile_HopAttr : AttrDef<Tile_Dialect, "Hop"> {
  let mnemonic = "hop";
  let summary = "A step on an operand's way to the arithmetic";
  let description = [{
    - `pack`: the worker copies the footprint of level `at`'s tile into a
      contiguous panel, in the innermost loop of that level that the operand
      depends on;
    - `prefetch`: its rows are asked for `slots` terms before they are read,
      since they lie too far apart for the machine to foresee;
    - `ring`: what level `at`'s tile reads is copied into the next of `slots`
      places in `memory`, by the machine's `engine`, as `layout` says where it
      fits, in the innermost loop of that level that the operand depends on.
      `multicast`: all parts of the last grid level in one of the level above
      read the same, each copies a share of it, and all get all of it.

    b alone is packed and prefetched. Rings of one operand follow each other,
    far to near: each is filled from the one before.

    ```mlir
    #tile.hop<b: pack l2 at 1>
    #tile.hop<b: prefetch l2 slots 12>
    #tile.hop<a: ring shared at 2 slots 4 by tma #tile.layout<swizzle [3, 3, 3]>>
    #tile.hop<b: ring shared at 2 slots 4 by tma multicast>
    ```
  }];
  let parameters = (ins EnumParameter<Tile_OperandKind>:$operand,
                        EnumParameter<Tile_HopKind>:$kind,
                        StringRefParameter<"the memory it leads to">:$memory,
                        "int64_t":$at, "int64_t":$slots,
                        StringRefParameter<"what copies">:$engine,
                        OptionalParameter<"::ashlar::tile::LayoutAttr">:$layout,
                        "bool":$multicast);
  let builders = [AttrBuilder<(ins "OperandKind":$operand, "HopKind":$kind,
                                   "::llvm::StringRef":$memory,
                                   "int64_t":$at, "int64_t":$slots,
                                   "::llvm::StringRef":$engine,
                                   "LayoutAttr":$layout), [{
    return $_get($_ctxt, operand, kind, memory, at, slots, engine, layout,
                 /*multicast=*/false);
  }]>];
  let hasCustomAssemblyFormat = 1;
}

def Tile_TeamAttr : AttrDef<Tile_Dialect, "Team"> {
  let mnemonic = "team";
  let summary = "Who does a role";
  let description = [{
    `count` instances of the scope, beside those of other roles in the same part
    of the grid. `registers`: of each thread, where roles share out registers
    among themselves; 0: as many as all others have.

    ```mlir
    #tile.team<producer warp x 1>
    #tile.team<consumer warpgroup x 2 registers 232>
    ```
  }];
  let parameters = (ins StringRefParameter<"the role">:$role,
                        StringRefParameter<"of the machine">:$scope,
                        "int64_t":$count, "int64_t":$registers);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_StrategyAttr : AttrDef<Tile_Dialect, "Strategy"> {
  let mnemonic = "strategy";
  let summary = "How a contraction is computed";
  let description = [{
    A list of levels, outermost first, each with its tile and its loops: those
    of the grid, then loops, then groups. The tile of the last loop level is what
    one accumulator holds.

    - `unit`: what multiplies, by its name in the machine model; `shape`, where
      it stands: the rows, columns and terms of it that one product takes;
    - `m`, `n`, `k`, `lanes`: which dims of the contraction lie on the unit's.
      A dim on none of them is walked one by one. What follows a bar in `k` is a
      group: terms that the unit multiplies and adds in one step;
    - `hops`: the ways of a and b from where they lie to the unit; none where
      an operand is read in place;
    - `accumulator`: the memory of sums; `promote`: in the loops over terms of
      that level, each tile is summed from zero and joins the total at its end
      (two-level accumulation); -1: all terms are one sum, in whatever tiles
      they come;
    - `masked`: dims whose last tile is as large as all others: copies fill what
      lies beyond the end with zeros, drains leave it out. The end of all other
      dims has tiles of its own size, in code of its own;
    - `partials`: the memory that sums of parts of the terms are put into, where
      the grid shares out terms: they are added in the order of their parts, by
      whoever comes last or afterwards;
    - `roles`: who copies and who computes, where these are not the same: first
      "producer", then "consumer". All hops are rings then, of two slots and
      more, whose engine says by itself when a copy is done;
    - `hints`: the target's own; they change no numbers. `unroll`: terms of the
      innermost reduced dim that are written out; `edge_rows`: how many rows a
      tile may have that is of several rows' ends, where that is more than all
      others have; `fragment`: which element of the unit's sums is whose;
      `raster`: how many of the grid's tiles along the last but one of its dims
      follow each other before the next along the last, so that what runs at the
      same time shares both operands.

    ```mlir
    #tile.strategy<"fma" m [0] n [1] k [2], grid core [126, _ | _],
                   loop [_, 32 | _] order [1], loop [14, 32 | 512] order [0, 2],
                   b: pack l2 at 1, acc vectors promote 2, hints {unroll = 4}>
    ```
  }];
  let parameters = (ins StringRefParameter<"what multiplies">:$unit,
                        ArrayRefParameter<"int64_t">:$shape,
                        ArrayRefParameter<"int64_t">:$m,
                        ArrayRefParameter<"int64_t">:$n,
                        ArrayRefParameter<"int64_t">:$k,
                        ArrayRefParameter<"int64_t">:$group,
                        ArrayRefParameter<"int64_t">:$lanes,
                        ArrayRefParameter<"::ashlar::tile::LevelAttr">:$levels,
                        ArrayRefParameter<"::ashlar::tile::HopAttr">:$hops,
                        StringRefParameter<"of sums">:$accumulator,
                        "int64_t":$promote,
                        ArrayRefParameter<"int64_t">:$masked,
                        StringRefParameter<"of sums of parts">:$partials,
                        ArrayRefParameter<"::ashlar::tile::TeamAttr">:$roles,
                        "::mlir::DictionaryAttr":$hints);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    unsigned getNumParallel() const {
      return getLevels().back().getParallel().size();
    }
    unsigned getNumDims() const { return getLevels().back().getNumDims(); }
    /// In front of all loops.
    ::llvm::ArrayRef<LevelAttr> getGrids() const;
    /// Behind all loops.
    ::llvm::ArrayRef<LevelAttr> getGroups() const;
    bool hasGrid() const { return !getGrids().empty(); }
    /// Whether the grid shares out terms.
    bool splitsTerms() const { return !getPartials().empty(); }
    /// Which thread has which element of an accumulator; null: the unit does
    /// not say.
    FragmentAttr getFragment() const {
      return getHints().getAs<FragmentAttr>("fragment");
    }
    /// Tiles of a column of the grid that follow each other; 1: rows do.
    int64_t getRaster() const;
    /// Whether operands come through rings: threads or arrays that compute a
    /// part together read them there.
    bool isShared() const {
      return ::llvm::any_of(getHops(), [](HopAttr hop) {
        return hop.getKind() == HopKind::Ring;
      });
    }
    /// One worker's part of a dim; 0: all of it.
    int64_t getWorkerTile(unsigned dim) const;
    /// What an accumulator holds of a parallel dim, and how many terms of a
    /// reduced one come at a time; 0: all.
    int64_t getTile(unsigned dim) const;
    /// The first that a grid or a loop cuts of a dim; 0: none does.
    int64_t getOutermostTile(unsigned dim) const;
    /// Whether the last tile of a masked dim reaches beyond the end. isOpen: its
    /// size is a value.
    bool hasEdge(unsigned dim, int64_t size, bool isOpen) const;
    bool isMasked(unsigned dim) const {
      return ::llvm::is_contained(getMasked(), int64_t(dim));
    }
    /// A dim that the level of this number walks.
    struct Loop {
      unsigned dim, level;
      int64_t tile;
    };
    /// All of them, outermost first; those over terms come last.
    ::llvm::SmallVector<Loop> getLoops() const;
    /// Null: the operand comes without one of this kind.
    HopAttr getHop(OperandKind operand, HopKind kind) const {
      for (HopAttr hop : getHops())
        if (hop.getOperand() == operand && hop.getKind() == kind)
          return hop;
      return {};
    }
    /// Null: b is not copied.
    HopAttr getPack() const { return getHop(OperandKind::B, HopKind::Pack); }
    /// In how many of the loops the copies of a hop stand whose operand lies at
    /// `map`: up to the innermost one of its level and those outside that the
    /// operand depends on.
    unsigned getLoopsTo(HopAttr hop, ::mlir::AffineMap map) const;
    /// Whether a sum comes in tiles of terms.
    bool cutsTerms() const {
      return ::llvm::any_of(getLoops(), [&](Loop loop) {
        return loop.dim >= getNumParallel();
      });
    }
    /// Terms; 0: b is not asked for early.
    int64_t getPrefetchDistance() const {
      HopAttr hop = getHop(OperandKind::B, HopKind::Prefetch);
      return hop ? hop.getSlots() : 0;
    }
    bool isGrouped() const { return !getGroup().empty(); }
    /// Whether sums are in registers of a matrix unit.
    bool isMatrix() const { return !getShape().empty(); }
    int64_t getUnroll() const;
    /// For a part of the contraction that somebody else has cut out.
    StrategyAttr withoutGrid() const;
    /// For a part of the contraction of these sizes: what a level cuts no
    /// longer, it has whole.
    StrategyAttr clippedTo(::llvm::ArrayRef<int64_t> sizes) const;
    /// The same for operands that are near already.
    StrategyAttr inPlace() const;
  }];
}

def Tile_PackedAttr : AttrDef<Tile_Dialect, "Packed",
                              [TypedAttrInterface]> {
  let mnemonic = "packed";
  let summary = "A constant in another order, filled up with zeros";
  let description = [{
    Element `i` of the value is the element of `source`, seen as one row-major
    line of its elements, at the sum of `i[d] * strides[d]`; it is zero where
    the column is `clip` or more. With `group` 1 the column is
    `i[first] * panel + i[last]`; otherwise the last dim is a group of that size
    and the column's place in its panel stands before it. The bytes are made
    while the module is written.
  }];
  let parameters = (ins "::mlir::TypedAttr":$source,
                        AttributeSelfTypeParameter<"">:$type,
                        ArrayRefParameter<"int64_t">:$strides,
                        "int64_t":$panel, "int64_t":$clip,
                        DefaultValuedParameter<"int64_t", "1">:$group);
  let assemblyFormat = [{
    `<` $source `,` `strides` `=` `[` $strides `]` `,`
    `panel` `=` $panel `,` `clip` `=` $clip (`,` `group` `=` $group^)? `>`
  }];
}

def Tile_RoundedAttr : AttrDef<Tile_Dialect, "Rounded",
                               [ElementsAttrInterface]> {
  let mnemonic = "rounded";
  let summary = "A constant with its elements in a smaller type";
  let description = [{
    Each element of `source`, of f32, rounded to nearest, ties to even. The
    bytes are made while the module is written, so that a weight is not held
    twice.
  }];
  let parameters = (ins "::mlir::TypedAttr":$source,
                        AttributeSelfTypeParameter<"",
                                                   "::mlir::ShapedType">:$type);
  let assemblyFormat = "`<` $source `>`";
}

def Tile_RandomAttr : AttrDef<Tile_Dialect, "Random",
                              [ElementsAttrInterface]> {
  let mnemonic = "random";
  let summary = "A constant of numbers that a seed stands for";
  let description = [{
    Element i of constant `number` is `scale` times what the runtime's
    RandomWeights.h makes of `seed`, `number` and i, rounded to the type. The
    module holds these figures in place of bytes.

    ```mlir
    #tile.random<7, 0, 0.02 : f32> : tensor<768x3072xf32>
    ```
  }];
  let parameters = (ins "uint64_t":$seed, "uint64_t":$number,
                        "::mlir::FloatAttr":$scale,
                        AttributeSelfTypeParameter<"",
                                                   "::mlir::ShapedType">:$type);
  let assemblyFormat = "`<` $seed `,` $number `,` $scale `>`";
}

def Tile_StackedAttr : AttrDef<Tile_Dialect, "Stacked",
                               [ElementsAttrInterface]> {
  let mnemonic = "stacked";
  let summary = "Constants of one type, one behind the other";
  let description = [{
    Of `n` sources, the value has one dim more, the first, of size `n`: at `i`
    lies source `i`. The bytes are brought together while the module is
    written, so that no weight is held twice.

    ```mlir
    #tile.stacked<dense<1.0> : tensor<4xf32>, dense<2.0> : tensor<4xf32>>
        : tensor<2x4xf32>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::TypedAttr">:$sources,
                        AttributeSelfTypeParameter<"",
                                                   "::mlir::ShapedType">:$type);
  let assemblyFormat = "`<` $sources `>`";
  let genVerifyDecl = 1;
}

#endif // ASHLAR_DIALECTS_TILE_IR_TILEDIALECT_TD
