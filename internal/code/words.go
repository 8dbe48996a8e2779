package code

// This file is the vocabulary: keywords, names and lists. Most words exist as a
// method that adds to a statement, as one that begins a statement in a group, and
// as a function that begins one by itself.

// Add begins a statement with what [Statement.Add] adds.
func Add(items ...*Statement) *Statement { return new(Statement).Add(items...) }

// Id begins a statement with what [Statement.Id] adds.
func (g *Group) Id(name string) *Statement { return g.next().Id(name) }

// Id begins a statement with what [Statement.Id] adds.
func Id(name string) *Statement { return new(Statement).Id(name) }

// Op begins a statement with what [Statement.Op] adds.
func (g *Group) Op(op string) *Statement { return g.next().Op(op) }

// Op begins a statement with what [Statement.Op] adds.
func Op(op string) *Statement { return new(Statement).Op(op) }

// Qual begins a statement with what [Statement.Qual] adds.
func (g *Group) Qual(path, name string) *Statement { return g.next().Qual(path, name) }

// Qual begins a statement with what [Statement.Qual] adds.
func Qual(path, name string) *Statement { return new(Statement).Qual(path, name) }

// Lit begins a statement with what [Statement.Lit] adds.
func (g *Group) Lit(v any) *Statement { return g.next().Lit(v) }

// Lit begins a statement with what [Statement.Lit] adds.
func Lit(v any) *Statement { return new(Statement).Lit(v) }

// LitRune begins a statement with what [Statement.LitRune] adds.
func LitRune(r rune) *Statement { return new(Statement).LitRune(r) }

// Comment begins a statement with what [Statement.Comment] adds.
func (g *Group) Comment(text string) *Statement { return g.next().Comment(text) }

// Comment begins a statement with what [Statement.Comment] adds.
func Comment(text string) *Statement { return new(Statement).Comment(text) }

// Line begins a statement with what [Statement.Line] adds.
func (g *Group) Line() *Statement { return g.next().Line() }

// Line begins a statement with what [Statement.Line] adds.
func Line() *Statement { return new(Statement).Line() }

// Null begins a statement with what [Statement.Null] adds.
func Null() *Statement { return new(Statement).Null() }

// Empty begins a statement with what [Statement.Empty] adds.
func Empty() *Statement { return new(Statement).Empty() }

// Any adds any.
func (s *Statement) Any() *Statement { return s.word("any") }

// Any begins a statement with what [Statement.Any] adds.
func Any() *Statement { return new(Statement).Any() }

// Bool adds bool.
func (s *Statement) Bool() *Statement { return s.word("bool") }

// Byte adds byte.
func (s *Statement) Byte() *Statement { return s.word("byte") }

// Error adds error.
func (s *Statement) Error() *Statement { return s.word("error") }

// Error begins a statement with what [Statement.Error] adds.
func Error() *Statement { return new(Statement).Error() }

// Float64 adds float64.
func (s *Statement) Float64() *Statement { return s.word("float64") }

// Float64 begins a statement with what [Statement.Float64] adds.
func Float64() *Statement { return new(Statement).Float64() }

// Int adds int.
func (s *Statement) Int() *Statement { return s.word("int") }

// Int begins a statement with what [Statement.Int] adds.
func Int() *Statement { return new(Statement).Int() }

// Int64 adds int64.
func (s *Statement) Int64() *Statement { return s.word("int64") }

// Int64 begins a statement with what [Statement.Int64] adds.
func Int64() *Statement { return new(Statement).Int64() }

// String adds string.
func (s *Statement) String() *Statement { return s.word("string") }

// String begins a statement with what [Statement.String] adds.
func String() *Statement { return new(Statement).String() }

// Uint adds uint.
func (s *Statement) Uint() *Statement { return s.word("uint") }

// Uint begins a statement with what [Statement.Uint] adds.
func Uint() *Statement { return new(Statement).Uint() }

// True adds true.
func (s *Statement) True() *Statement { return s.word("true") }

// True begins a statement with what [Statement.True] adds.
func True() *Statement { return new(Statement).True() }

// False adds false.
func (s *Statement) False() *Statement { return s.word("false") }

// False begins a statement with what [Statement.False] adds.
func False() *Statement { return new(Statement).False() }

// Nil adds nil.
func (s *Statement) Nil() *Statement { return s.word("nil") }

// Nil begins a statement with what [Statement.Nil] adds.
func Nil() *Statement { return new(Statement).Nil() }

// Err adds err.
func (s *Statement) Err() *Statement { return s.word("err") }

// Err begins a statement with what [Statement.Err] adds.
func (g *Group) Err() *Statement { return g.next().Err() }

// Err begins a statement with what [Statement.Err] adds.
func Err() *Statement { return new(Statement).Err() }

// Break adds break.
func (s *Statement) Break() *Statement { return s.word("break") }

// Break begins a statement with what [Statement.Break] adds.
func Break() *Statement { return new(Statement).Break() }

// Chan adds chan.
func (s *Statement) Chan() *Statement { return s.word("chan") }

// Chan begins a statement with what [Statement.Chan] adds.
func Chan() *Statement { return new(Statement).Chan() }

// Const adds const.
func (s *Statement) Const() *Statement { return s.word("const") }

// Const begins a statement with what [Statement.Const] adds.
func (g *Group) Const() *Statement { return g.next().Const() }

// Const begins a statement with what [Statement.Const] adds.
func Const() *Statement { return new(Statement).Const() }

// Continue adds continue.
func (s *Statement) Continue() *Statement { return s.word("continue") }

// Continue begins a statement with what [Statement.Continue] adds.
func (g *Group) Continue() *Statement { return g.next().Continue() }

// Continue begins a statement with what [Statement.Continue] adds.
func Continue() *Statement { return new(Statement).Continue() }

// Defer adds defer.
func (s *Statement) Defer() *Statement { return s.word("defer") }

// Defer begins a statement with what [Statement.Defer] adds.
func (g *Group) Defer() *Statement { return g.next().Defer() }

// Defer begins a statement with what [Statement.Defer] adds.
func Defer() *Statement { return new(Statement).Defer() }

// Else adds else.
func (s *Statement) Else() *Statement { return s.word("else") }

// Func adds func.
func (s *Statement) Func() *Statement { return s.word("func") }

// Func begins a statement with what [Statement.Func] adds.
func (g *Group) Func() *Statement { return g.next().Func() }

// Func begins a statement with what [Statement.Func] adds.
func Func() *Statement { return new(Statement).Func() }

// Go adds go.
func (s *Statement) Go() *Statement { return s.word("go") }

// Go begins a statement with what [Statement.Go] adds.
func Go() *Statement { return new(Statement).Go() }

// Range adds range.
func (s *Statement) Range() *Statement { return s.word("range") }

// Range begins a statement with what [Statement.Range] adds.
func Range() *Statement { return new(Statement).Range() }

// Recover adds recover().
func (s *Statement) Recover() *Statement { return s.word("recover()") }

// Select adds select.
func (s *Statement) Select() *Statement { return s.word("select") }

// Select begins a statement with what [Statement.Select] adds.
func Select() *Statement { return new(Statement).Select() }

// Type adds type.
func (s *Statement) Type() *Statement { return s.word("type") }

// Type begins a statement with what [Statement.Type] adds.
func Type() *Statement { return new(Statement).Type() }

// Var adds var.
func (s *Statement) Var() *Statement { return s.word("var") }

// Var begins a statement with what [Statement.Var] adds.
func (g *Group) Var() *Statement { return g.next().Var() }

// Var begins a statement with what [Statement.Var] adds.
func Var() *Statement { return new(Statement).Var() }

// Default adds default:, whose block has no braces.
func (s *Statement) Default() *Statement {
	s.word("default:").label = true
	return s
}

// Default begins a statement with what [Statement.Default] adds.
func (g *Group) Default() *Statement { return g.next().Default() }

// Default begins a statement with what [Statement.Default] adds.
func Default() *Statement { return new(Statement).Default() }

// Append adds append(items).
func (s *Statement) Append(items ...*Statement) *Statement { return s.list(appended, items) }

// Assert adds .(item).
func (s *Statement) Assert(items ...*Statement) *Statement { return s.list(asserted, items) }

// Block adds the items, each on a line of its own, in braces; behind a case, without.
func (s *Statement) Block(items ...*Statement) *Statement { return s.list(s.block(), items) }

// BlockFunc is Block of what fill puts into a group.
func (s *Statement) BlockFunc(fill func(*Group)) *Statement { return s.listFunc(s.block(), fill) }

// Call adds (items).
func (s *Statement) Call(items ...*Statement) *Statement { return s.list(called, items) }

// CallFunc is Call of what fill puts into a group.
func (s *Statement) CallFunc(fill func(*Group)) *Statement { return s.listFunc(called, fill) }

// Case adds case items:, whose block has no braces.
func (s *Statement) Case(items ...*Statement) *Statement {
	s.list(cases, items).label = true
	return s
}

// Case begins a statement with what [Statement.Case] adds.
func (g *Group) Case(items ...*Statement) *Statement { return g.next().Case(items...) }

// Case begins a statement with what [Statement.Case] adds.
func Case(items ...*Statement) *Statement { return new(Statement).Case(items...) }

// Close adds close(item).
func (s *Statement) Close(items ...*Statement) *Statement { return s.list(closed, items) }

// Close begins a statement with what [Statement.Close] adds.
func (g *Group) Close(items ...*Statement) *Statement { return g.next().Close(items...) }

// Close begins a statement with what [Statement.Close] adds.
func Close(items ...*Statement) *Statement { return new(Statement).Close(items...) }

// Defs adds the items, each on a line of its own, in parentheses.
func (s *Statement) Defs(items ...*Statement) *Statement { return s.list(defined, items) }

// DefsFunc is Defs of what fill puts into a group.
func (s *Statement) DefsFunc(fill func(*Group)) *Statement { return s.listFunc(defined, fill) }

// Delete adds delete(items).
func (s *Statement) Delete(items ...*Statement) *Statement { return s.list(deleted, items) }

// Delete begins a statement with what [Statement.Delete] adds.
func Delete(items ...*Statement) *Statement { return new(Statement).Delete(items...) }

// For adds for items, with semicolons between them.
func (s *Statement) For(items ...*Statement) *Statement { return s.list(loop, items) }

// For begins a statement with what [Statement.For] adds.
func (g *Group) For(items ...*Statement) *Statement { return g.next().For(items...) }

// For begins a statement with what [Statement.For] adds.
func For(items ...*Statement) *Statement { return new(Statement).For(items...) }

// If adds if items, with semicolons between them.
func (s *Statement) If(items ...*Statement) *Statement { return s.list(condition, items) }

// If begins a statement with what [Statement.If] adds.
func (g *Group) If(items ...*Statement) *Statement { return g.next().If(items...) }

// If begins a statement with what [Statement.If] adds.
func If(items ...*Statement) *Statement { return new(Statement).If(items...) }

// Index adds [items], with colons between them.
func (s *Statement) Index(items ...*Statement) *Statement { return s.list(indexed, items) }

// Index begins a statement with what [Statement.Index] adds.
func (g *Group) Index(items ...*Statement) *Statement { return g.next().Index(items...) }

// Index begins a statement with what [Statement.Index] adds.
func Index(items ...*Statement) *Statement { return new(Statement).Index(items...) }

// Interface adds interface{items}, each on a line of its own.
func (s *Statement) Interface(items ...*Statement) *Statement { return s.list(interfaced, items) }

// InterfaceFunc is Interface of what fill puts into a group.
func (s *Statement) InterfaceFunc(fill func(*Group)) *Statement { return s.listFunc(interfaced, fill) }

// Len adds len(item).
func (s *Statement) Len(items ...*Statement) *Statement { return s.list(length, items) }

// Len begins a statement with what [Statement.Len] adds.
func Len(items ...*Statement) *Statement { return new(Statement).Len(items...) }

// List adds the items with commas between them.
func (s *Statement) List(items ...*Statement) *Statement { return s.list(list, items) }

// List begins a statement with what [Statement.List] adds.
func (g *Group) List(items ...*Statement) *Statement { return g.next().List(items...) }

// List begins a statement with what [Statement.List] adds.
func List(items ...*Statement) *Statement { return new(Statement).List(items...) }

// Make adds make(items).
func (s *Statement) Make(items ...*Statement) *Statement { return s.list(made, items) }

// Make begins a statement with what [Statement.Make] adds.
func Make(items ...*Statement) *Statement { return new(Statement).Make(items...) }

// Map adds map[item].
func (s *Statement) Map(items ...*Statement) *Statement { return s.list(mapped, items) }

// Map begins a statement with what [Statement.Map] adds.
func Map(items ...*Statement) *Statement { return new(Statement).Map(items...) }

// New adds new(item).
func (s *Statement) New(items ...*Statement) *Statement { return s.list(created, items) }

// Params adds (items), as parameters or results.
func (s *Statement) Params(items ...*Statement) *Statement { return s.list(called, items) }

// Params begins a statement with what [Statement.Params] adds.
func Params(items ...*Statement) *Statement { return new(Statement).Params(items...) }

// Parens adds (item).
func (s *Statement) Parens(items ...*Statement) *Statement { return s.list(parens, items) }

// Parens begins a statement with what [Statement.Parens] adds.
func Parens(items ...*Statement) *Statement { return new(Statement).Parens(items...) }

// Return adds return items.
func (s *Statement) Return(items ...*Statement) *Statement { return s.list(returned, items) }

// Return begins a statement with what [Statement.Return] adds.
func (g *Group) Return(items ...*Statement) *Statement { return g.next().Return(items...) }

// Return begins a statement with what [Statement.Return] adds.
func Return(items ...*Statement) *Statement { return new(Statement).Return(items...) }

// Struct adds struct{items}, each on a line of its own.
func (s *Statement) Struct(items ...*Statement) *Statement { return s.list(structured, items) }

// StructFunc is Struct of what fill puts into a group.
func (s *Statement) StructFunc(fill func(*Group)) *Statement { return s.listFunc(structured, fill) }

// Switch adds switch items, with semicolons between them.
func (s *Statement) Switch(items ...*Statement) *Statement { return s.list(switched, items) }

// Switch begins a statement with what [Statement.Switch] adds.
func (g *Group) Switch(items ...*Statement) *Statement { return g.next().Switch(items...) }

// Switch begins a statement with what [Statement.Switch] adds.
func Switch(items ...*Statement) *Statement { return new(Statement).Switch(items...) }

// Types adds [items], as type parameters or arguments.
func (s *Statement) Types(items ...*Statement) *Statement { return s.list(typed, items) }

// Values adds {items}, as a composite literal.
func (s *Statement) Values(items ...*Statement) *Statement { return s.list(values, items) }

// ValuesFunc is Values of what fill puts into a group.
func (s *Statement) ValuesFunc(fill func(*Group)) *Statement { return s.listFunc(values, fill) }
