// Finds exported names of a declaration file, and their members, that have no documentation.
import { dirname } from 'node:path'
import ts from 'typescript'

/**
 * Checks the exports of a module. Members that are declared outside the module's folder are ignored.
 * @param file a .d.ts file
 * @returns the number of names that were checked, and those without a description
 */
export function undocumentedExports(file: string): { checked: number; undocumented: string[] } {
  const program = ts.createProgram([file], {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    types: [],
  })
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(file)
  const module = source && checker.getSymbolAtLocation(source)
  if (!module) throw new Error(`${file} is not a module`)

  const folder = dirname(file)
  const names = new Map<string, ts.Symbol>()
  for (const exported of checker.getExportsOfModule(module)) {
    const symbol = resolveAlias(checker, exported)
    names.set(exported.name, symbol)
    for (const member of membersOf(checker, symbol)) {
      if (isOwn(member, folder)) names.set(`${exported.name}.${member.name}`, member)
    }
  }
  const undocumented = [...names].filter(
    ([, symbol]) => symbol.getDocumentationComment(checker).length === 0,
  )
  return { checked: names.size, undocumented: undocumented.map(([name]) => name) }
}

const resolveAlias = (checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol =>
  symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol

function membersOf(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol[] {
  if (!(symbol.flags & ts.SymbolFlags.Type)) return checker.getTypeOfSymbol(symbol).getProperties()
  const constructor = symbol.members?.get(ts.InternalSymbolName.Constructor)
  const properties = checker.getDeclaredTypeOfSymbol(symbol).getProperties()
  return constructor ? [constructor, ...properties] : properties
}

/** Whether a member is declared in the folder and is not a `#private` one. */
const isOwn = ({ name, declarations = [] }: ts.Symbol, folder: string): boolean =>
  !name.includes('#') &&
  declarations.some((declaration) => declaration.getSourceFile().fileName.startsWith(folder))
