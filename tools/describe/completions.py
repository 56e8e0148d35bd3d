# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What bash and zsh offer behind a tool's name."""

import re

# Options whose values are lists of targets, and the options of files.
TARGETS = "--target"
FILES = re.compile(r"\b(file|folder|FILE|page|table|to a file)\b|\.\w+ file|"
                   r"^Store|JSON|picture|machine model", re.I)

BASH = r"""# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Made from {tool} --help; completes --option, --option=VALUE and files.
{function}() {{
  local line=${{COMP_LINE:0:COMP_POINT}} word option='' value fixed='' breaks=''
  local options='{options}'
  word=${{line##*[[:space:]]}}
  line=${{line%"$word"}}
  line=${{line%"${{line##*[![:space:]]}}"}}
  value=$word
  if [[ $word == -*=* ]]; then
    option=${{word%%=*}} value=${{word#*=}}
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
    [[ ${{COMPREPLY[0]-}} != *= ]] || compopt -o nospace 2>/dev/null
    return
  else
    option=${{line##*[[:space:]]}}
  fi
  # Lists of targets are completed at their end.
  local list=''
  [[ $option != --target || $value != *[+,]* ]] || list=${{value%"${{value##*[+,]}}"}}
  value=${{value#"$list"}}
  case $option in
{cases}
    *) option='' value=${{word#"$list"}}; COMPREPLY=($(compgen -f -- "$value")) ;;
  esac
  # Readline replaces what stands behind the last character that breaks words.
  fixed=$list
  [[ $word != -*=* ]] || fixed=${{word%%=*}}=$list
  COMPREPLY=("${{COMPREPLY[@]/#/$fixed}}")
  [[ $COMP_WORDBREAKS != *=* ]] || breaks+='='
  [[ $COMP_WORDBREAKS != *:* ]] || breaks+=':'
  if [[ -n $breaks && $word == *[$breaks]* ]]; then
    fixed=${{word%"${{word##*[$breaks]}}"}}
    COMPREPLY=("${{COMPREPLY[@]#"$fixed"}}")
  fi
  compopt -o filenames 2>/dev/null
}}
complete -F {function} {tool}
"""


def values_of(option, targets):
    if TARGETS in option.names:
        return targets
    return option.choices


def takes_files(option):
    return bool(option.metavar) and bool(
        option.extensions or FILES.search(option.text))


def bash(tool, targets, extra):
    words, cases = [], []
    for option in tool.options:
        if option.is_positional:
            continue
        for name in option.names:
            equals = "=" if option.metavar and name.startswith("--") else ""
            words.append(name + equals)
        values = values_of(option, targets)
        if values:
            cases.append(f"    {'|'.join(option.names)}) COMPREPLY=($(compgen "
                         f"-W '{' '.join(values)}' -- \"$value\")) ;;")
        elif option.metavar and not takes_files(option):
            cases.append(f"    {'|'.join(option.names)}) COMPREPLY=(); "
                         "return ;;")
        elif option.metavar:
            cases.append(f"    {'|'.join(option.names)}) COMPREPLY=($(compgen "
                         "-f -- \"$value\")) ;;")
    return BASH.format(tool=tool.name,
                       function="_" + tool.name.replace("-", "_"),
                       options=" ".join(words + list(extra)),
                       cases="\n".join(cases))


def zsh_text(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_action(option, targets):
    values = values_of(option, targets)
    if values:
        return f"({' '.join(value.replace(':', chr(92) + ':') for value in values)})"
    if option.is_positional and option.extensions:
        return f'_files -g "*.({"|".join(option.extensions)})(-.)"'
    return "_files" if option.is_positional or takes_files(option) else ""


def zsh(tool, targets, extra):
    specs = []
    for option in tool.options:
        action = zsh_action(option, targets)
        if option.is_positional:
            specs.append(f"'*:{option.names[0]}:{action}'")
            continue
        text = zsh_text(option.text.split(";")[0])
        many = "*" if option.repeats else ""
        value = f":{option.metavar.lower()}:{action}" if option.metavar else ""
        for name in option.names:
            joint = ("=" if name.startswith("--") else "+") * bool(value)
            specs.append(f"'{many}{name}{joint}[{text}]{value}'")
    for name in extra:
        joint = "=" if name.endswith("=") else ""
        specs.append(f"'{name.rstrip('=')}{joint}'"
                     if not joint else f"'{name}:value:'")
    if extra:
        specs.append("'*:FILE:_files'")
    body = " \\\n  ".join(specs)
    return (f"#compdef {tool.name}\n"
            "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
            f"# Made from {tool.name} --help.\n_arguments -s -S \\\n  {body}\n")
