// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxDecoder.h"

#include <cstring>

using namespace ashlar::ptx;

void Decoder::fail(const std::string &what) const {
  throw Error(program.quote(now->line) + ": " + what);
}

bool Decoder::take(std::string_view modifier) {
  for (size_t i = 0; i < now->modifiers.size(); ++i)
    if (!taken[i] && now->modifiers[i] == modifier) {
      taken[i] = true;
      return true;
    }
  return false;
}

int Decoder::takeOf(std::initializer_list<const char *> modifiers) {
  int number = 0;
  for (const char *each : modifiers) {
    if (take(each))
      return number;
    ++number;
  }
  return -1;
}

int Decoder::takeNextOf(std::initializer_list<const char *> modifiers) {
  for (size_t i = 0; i < now->modifiers.size(); ++i) {
    int number = 0;
    for (const char *each : modifiers) {
      if (!taken[i] && now->modifiers[i] == each) {
        taken[i] = true;
        return number;
      }
      ++number;
    }
  }
  return -1;
}

Type Decoder::takeTypeOrNone() {
  for (size_t i = 0; i < now->modifiers.size(); ++i)
    if (!taken[i])
      if (Type type = typeNamed(now->modifiers[i]); type != Type::None) {
        taken[i] = true;
        return type;
      }
  return Type::None;
}

Type Decoder::takeType() {
  Type type = takeTypeOrNone();
  if (type == Type::None)
    fail("expected a type");
  return type;
}

void Decoder::takeOrdering() {
  while (takeOf({"weak",
                 "cta",
                 "cluster",
                 "gpu",
                 "sys",
                 "ca",
                 "cg",
                 "cs",
                 "lu",
                 "cv",
                 "wb",
                 "wt",
                 "L1::evict_normal",
                 "L1::evict_unchanged",
                 "L1::evict_first",
                 "L1::evict_last",
                 "L1::no_allocate",
                 "L2::64B",
                 "L2::128B",
                 "L2::256B",
                 "L2::evict_last",
                 "L2::evict_normal",
                 "L2::evict_first"}) >= 0)
    ;
}

size_t Decoder::takeCacheHint() {
  if (!take("L2::cache_hint"))
    return 0;
  if (now->operands.empty() || now->operands.back().kind != Operand::Register ||
      bytesOf(now->operands.back().type) != 8)
    fail("expected a cache policy of 64 bits as the last operand");
  source(now->operands.back(), Type::B64);
  return 1;
}

uint32_t Decoder::takeFloatMode() {
  int rounding = takeOf({"rn", "rz", "rm", "rp"});
  uint32_t flags = uint32_t(rounding < 0 ? 0 : rounding);
  if (take("ftz"))
    flags |= FloatMode::Ftz;
  if (take("sat"))
    flags |= FloatMode::Sat;
  return flags;
}

void Decoder::expectOperands(size_t least, size_t most) const {
  size_t count = now->operands.size();
  if (count < least || count > std::max(least, most))
    fail("expected " + std::to_string(least) + " operands, found " +
         std::to_string(count));
}

uint64_t Decoder::bitsOf(const Operand &of, Type type) const {
  bool isFloat = type == Type::F32 || type == Type::F64 || type == Type::F16 ||
                 type == Type::BF16;
  double value = 0;
  switch (of.kind) {
  case Operand::Integer:
    // Of 16 bits they are written as bits.
    if (type == Type::F32 || type == Type::F64)
      fail("a whole number for a float");
    return uint64_t(of.integer);
  case Operand::Single:
    if (!isFloat || type == Type::F32)
      return uint64_t(of.integer);
    value = bitsAs<float>(uint32_t(of.integer));
    break;
  case Operand::Real:
    value = of.real;
    break;
  default:
    fail("an operand that is no number");
  }
  switch (type) {
  case Type::F32:
    return bitsAs<uint32_t>(float(value));
  case Type::F16:
    return fromDouble<Half>(value, Rounding::Nearest).bits;
  case Type::BF16:
    return fromDouble<BFloat>(value, Rounding::Nearest).bits;
  default:
    return bitsAs<uint64_t>(value);
  }
}

uint32_t Decoder::constant(uint64_t bits) {
  auto [at, isNew] = constantSlots.try_emplace(
      bits, code.function->slots + uint32_t(code.constants.size()));
  if (isNew)
    code.constants.push_back(bits);
  return at->second;
}

uint32_t Decoder::scratch() {
  code.constants.push_back(0);
  return code.function->slots + uint32_t(code.constants.size()) - 1;
}

const uint32_t *Decoder::list(std::vector<uint32_t> slots) {
  program.lists.push_back(std::move(slots));
  return program.lists.back().data();
}

static const Instruction *negate(Thread &t, const Instruction *i) {
  t.r[i->dst] = !t.r[i->a];
  return i + 1;
}

static const Instruction *addOffset(Thread &t, const Instruction *i) {
  t.r[i->dst] = t.r[i->a] + uint64_t(i->offset);
  return i + 1;
}

/// What a variable's offset counts from.
static uint32_t baseOf(const Variable &variable) {
  if (variable.space == Space::Local)
    return special::LocalBase;
  if (variable.space == Space::Shared && variable.isExtern)
    return special::DynamicBase;
  if (variable.space == Space::Shared && variable.isOfKernel)
    return special::SharedBase;
  return special::Zero;
}

void Decoder::touch(const Operand &of) {
  touched.push_back(of.slot);
  if (of.type == Type::B128)
    touched.push_back(of.slot + 1);
}

uint32_t Decoder::source(const Operand &of, Type type) {
  switch (of.kind) {
  case Operand::Register:
    touch(of);
    if (of.isNegated) {
      Instruction made = make(negate);
      made.dst = scratch();
      made.a = of.slot;
      emit(made);
      return made.dst;
    }
    return of.slot;
  case Operand::Place:
    switch (of.variable->space) {
    case Space::Global:
    case Space::Const: {
      uint64_t address = program.addressOf(of.variable->name);
      if (!address)
        fail("'" + of.variable->name + "' is defined nowhere");
      return constant(address + uint64_t(of.integer));
    }
    default: {
      Instruction made = make(addOffset);
      made.a = baseOf(*of.variable);
      made.dst = scratch();
      made.offset = int64_t(of.variable->offset) + of.integer;
      if (made.a == special::Zero)
        return constant(uint64_t(made.offset));
      emit(made);
      return made.dst;
    }
    }
  case Operand::Integer:
  case Operand::Single:
  case Operand::Real:
    if (type == Type::Pred)
      return constant(of.integer != 0);
    return constant(bitsOf(of, type));
  default:
    fail("an operand of a kind that does not fit here");
  }
}

uint32_t Decoder::destination(const Operand &of) {
  if (of.kind == Operand::Register) {
    touch(of);
    return of.slot;
  }
  if (of.kind != Operand::Sink)
    fail("a result that is no register");
  if (!spare)
    spare = scratch();
  return spare;
}

void Decoder::address(const Operand &of, Instruction &into, Space &space) {
  if (of.kind != Operand::Address)
    fail("expected an address in brackets");
  const Operand &base = of.elements[0];
  into.offset = of.integer;
  if (base.kind == Operand::Place) {
    Space named = base.variable->space;
    if (space == Space::Param && named == Space::KernelParam)
      space = named;
    else if (space == Space::Generic && named == Space::Param)
      fail("a parameter without .param");
    else if (space != named && space != Space::Generic &&
             (space != Space::Cluster || named != Space::Shared))
      fail("'" + base.variable->name + "' is of another space");
    else
      space = named;
  }
  if (space == Space::Param && base.kind != Operand::Place) {
    // A register: the kernel's parameters, by their address.
    if (!code.function->isEntry)
      fail("parameters of a function by an address");
    space = Space::KernelParam;
  }
  if (base.kind == Operand::Place && base.variable->space != Space::Global &&
      base.variable->space != Space::Const) {
    into.a = baseOf(*base.variable);
    into.offset += base.integer + int64_t(base.variable->offset);
    return;
  }
  into.a = source(base, Type::B64);
}

Instruction Decoder::make(Handler run) const {
  Instruction made;
  made.run = run;
  made.line = now->line;
  return made;
}

void Decoder::emit(Instruction instruction) {
  instruction.index = program.count++;
  code.instructions.push_back(instruction);
}

void Decoder::branchTo(const std::string &label, Instruction &into) {
  (void)into;
  patches.push_back({code.instructions.size(), label, false, now->line});
}

void Decoder::useTable(Instruction &into, const std::string &name) {
  (void)into;
  patches.push_back({code.instructions.size(), name, true, now->line});
}

const Code *Decoder::codeOf(const std::string &name) const {
  auto found = program.codes.find(name);
  return found == program.codes.end() ? nullptr : found->second.get();
}

static const std::unordered_map<std::string, void (*)(Decoder &)> &opcodes() {
  static const auto all = [] {
    std::unordered_map<std::string, void (*)(Decoder &)> made;
    for (const Family *family :
         {&arithmetic(), &bitwise(), &floating(), &functions(), &comparing(),
          &converting(), &accessing(), &moving(), &atomics(), &controlling(),
          &warpwide(), &matrices(), &copying(), &warpgroups(), &clusters(),
          &mbarriers()})
      for (const Opcode &each : *family)
        made.emplace(each.name, each.decode);
    return made;
  }();
  return all;
}

static const Instruction *skipUnless(Thread &t, const Instruction *i) {
  return t.r[i->a] != i->flags ? i + 1 : i->target;
}

static const Instruction *fallOff(Thread &, const Instruction *) {
  throw Fault(Fault::Trap, "the function's end without ret");
}

void Decoder::decodeOne() {
  auto found = opcodes().find(now->opcode);
  if (found == opcodes().end())
    fail("the interpreter does not know '" + now->opcode + "'");
  taken.assign(now->modifiers.size(), false);
  found->second(*this);
  for (size_t i = 0; i < taken.size(); ++i)
    if (!taken[i])
      fail("the interpreter does not know '." + now->modifiers[i] + "' of '" +
           now->opcode + "'");
}

void Decoder::decodeAll() {
  std::vector<std::pair<size_t, size_t>> skips; // from, to
  const Function &function = *code.function;
  for (const Statement &each : function.statements) {
    now = &each;
    if (!each.label.empty()) {
      if (!labels.emplace(each.label, code.instructions.size()).second)
        fail("a second label '" + each.label + "'");
      continue;
    }
    size_t begin = code.instructions.size();
    if (each.isGuarded) {
      Instruction skip = make(skipUnless);
      skip.a = each.guard;
      skip.flags = each.isGuardNegated;
      emit(skip);
    }
    size_t own = code.instructions.size();
    touched.clear();
    decodeOne();
    if (!touched.empty()) {
      const uint32_t *slots = list(touched);
      for (size_t k = own; k < code.instructions.size(); ++k)
        program.setRegisters(code.instructions[k], slots, touched.size());
    }
    if (each.isGuarded)
      skips.emplace_back(begin, code.instructions.size());
  }
  Statement end;
  end.line = function.statements.empty() ? function.line
                                         : function.statements.back().line;
  now = &end;
  emit(make(fallOff));
  const Instruction *first = code.instructions.data();
  for (auto [from, to] : skips)
    code.instructions[from].target = first + to;
  for (const Patch &each : patches) {
    auto find = [&](const std::string &label) {
      auto at = labels.find(label);
      if (at == labels.end())
        throw Error(program.quote(each.line) + ": there is no label '" + label +
                    "'");
      return first + at->second;
    };
    Instruction &instruction = code.instructions[each.instruction];
    if (!each.isTable) {
      instruction.target = find(each.label);
      continue;
    }
    auto table = function.branchTargets.find(each.label);
    if (table == function.branchTargets.end())
      throw Error(program.quote(each.line) + ": there is no .branchtargets '" +
                  each.label + "'");
    std::vector<const Instruction *> targets;
    for (const std::string &label : table->second)
      targets.push_back(find(label));
    instruction.count = uint32_t(targets.size());
    program.tables.push_back(std::move(targets));
    instruction.targets = program.tables.back().data();
  }
}
