package emit

// This file writes the arguments of statements, and args.go with the functions
// that some of them need.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
)

// source is where the arguments of a statement come from.
type source struct {
	one   *code.Statement // the value whose fields are taken one by one: a NewJob
	many  *code.Statement // the slice whose elements are taken together
	item  *code.Statement // the type of an element of many
	done  bool            // the elements are Done, jobs with a result
	keys  bool            // the elements are of type Key
	delay *code.Statement // the expression for a delay
	limit *code.Statement // the expression for what is left to take; limit when nil
	named string          // what a batch in JSON is called, "batch" when empty
	// batches are the names of batches in JSON that stand there already, by what they
	// hold, for statements that follow each other; nil for a single one.
	batches map[string]string
	lists   bool // lists that travel as JSON are so already, see prepareLists
}

// arguments returns the expressions for the arguments of s, and the lines that
// must stand before they are used, which return fail and an error. The error
// names op; within an attempt, where op is "", the attempt does.
func (w *writer) arguments(s *plan.Statement, from source, op string, fail ...*code.Statement) (before, args []*code.Statement) {
	names := 0
	for _, a := range s.Args {
		// A JSON text is made by a function that may fail.
		json := func(name string, rows *code.Statement) *code.Statement {
			if name == "batch" {
				if from.named != "" {
					name = from.named
				}
				known := rows.Text()
				if have := from.batches[known]; have != "" {
					return code.Id(have)
				}
				if from.batches != nil {
					if names = len(from.batches); names > 0 {
						name += strconv.Itoa(names + 1)
					}
					from.batches[known] = name
				} else if names++; names > 1 {
					name += strconv.Itoa(names)
				}
			}
			err := code.Err()
			if op != "" {
				err = w.errorf(op+": %w", code.Err())
			}
			before = append(before, code.List(code.Id(name), code.Err()).Op(":=").Add(rows),
				code.If(code.Err().Op("!=").Nil()).Block(code.Return(append(slices.Clone(fail), err)...)))
			return code.Id(name)
		}
		switch a.Kind {
		case plan.ArgLimit:
			if from.limit != nil {
				args = append(args, from.limit.Clone())
			} else {
				args = append(args, code.Id("limit"))
			}
		case plan.ArgAhead:
			args = append(args, code.Lit(plan.AheadTimes).Op("*").Id("limit").Op("+").Lit(a.Besides))
		case plan.ArgLow:
			args = append(args, code.Id("low"))
		case plan.ArgTaken:
			if from.many == nil {
				w.fail("%s: there are no jobs for the argument %s", s.Name, a.Field.Name)
				continue
			}
			args = append(args, w.value(a.Field, from.many.Clone().Index(code.Lit(0)).Dot(a.Field.Name), false))
		case plan.ArgToken:
			args = append(args, code.Id("token"))
		case plan.ArgWorker:
			args = append(args, w.queue().Dot("worker"))
		case plan.ArgLocal:
			args = append(args, code.Id(a.Name))
		case plan.ArgShardIdx:
			args = append(args, code.Id("shard").Dot("Index"))
		case plan.ArgShardCnt:
			args = append(args, code.Id("shard").Dot("Count"))
		case plan.ArgShardMin:
			args = append(args, code.Id("shard").Dot("least").Call())
		case plan.ArgShardMax:
			args = append(args, code.Id("shard").Dot("most").Call())
		case plan.ArgLease:
			args = append(args, code.Id("lease").Dot("Seconds").Call())
		case plan.ArgTimeout:
			args = append(args, code.Id("timeout").Dot("Seconds").Call())
		case plan.ArgOlder:
			args = append(args, code.Id("olderThan").Dot("Seconds").Call())
		case plan.ArgDelay:
			if from.delay == nil {
				w.fail("%s: no delay is known", s.Name)
				continue
			}
			args = append(args, from.delay.Clone().Dot("Seconds").Call())
		case plan.ArgError:
			args = append(args, w.errorArg(a.Most))
		case plan.ArgParam, plan.ArgGiven:
			if from.lists && a.Param.List && a.Param.JSON {
				args = append(args, code.Id(listName(a.Param)))
				continue
			}
			args = append(args, w.paramValue(a.Param, json))
		case plan.ArgMost:
			args = append(args, code.Id("max").Call(code.Id(a.Param.Name), code.Lit(0)))
		case plan.ArgNew:
			args = append(args, w.value(a.Field, from.one.Clone().Dot(a.Field.Name), a.Field.Optional))
		case plan.ArgNewSet:
			args = append(args, from.one.Clone().Dot(a.Field.Name).Op("!=").Nil())
		case plan.ArgBatch, plan.ArgNewBatch:
			if from.many == nil {
				w.fail("%s: there are no jobs for the argument %s", s.Name, a.Field.Name)
				continue
			}
			args = append(args, w.batch(a, from))
		case plan.ArgParts, plan.ArgPartOf:
			if from.many == nil {
				w.fail("%s: there are no jobs for the argument %s", s.Name, a.Field.Name)
				continue
			}
			typ, value := w.slot(a.Field, w.field(a.Field, from))
			args = append(args, code.Id(map[plan.ArgKind]string{plan.ArgParts: "cutParts", plan.ArgPartOf: "partOf"}[a.Kind]).Call(from.many.Clone(), code.Lit(a.Max),
				code.Func().Params(itemParam(from)).Add(typ).Add(inline(code.Return(value)))))
		case plan.ArgBatchAll, plan.ArgNewAll:
			if from.many == nil {
				w.fail("%s: there are no jobs for an argument", s.Name)
				continue
			}
			args = append(args, json("batch", w.batchAll(a, from)))
		case plan.ArgList, plan.ArgNewList, plan.ArgHeldList, plan.ArgParamList:
			args = append(args, w.list(s, a, from))
		case plan.ArgParamNil:
			args = append(args, code.Id(a.Param.Name).Op("==").Nil())
		case plan.ArgCursor, plan.ArgCounts, plan.ArgNewKey:
			// The function that runs the statement adds them.
		case plan.ArgHeld:
			args = append(args, w.held(a.Field))
		case plan.ArgHeldAll:
			args = append(args, json("held", w.heldAll(a.Batch)))
		default:
			w.fail("%s: argument %q is not known", s.Name, a.Kind)
		}
	}
	return before, args
}

// pointer reports whether a field is a pointer, in NewJob when optional counts.
func pointer(f *plan.Field, optional bool) bool {
	return (f.Null || optional) && !isSlice(f)
}

// value is one value as the driver takes it.
func (w *writer) value(f *plan.Field, field *code.Statement, optional bool) *code.Statement {
	switch {
	case f.GoType == "json.RawMessage" && !w.isPgx():
		return code.Id("jsonText").Call(field)
	case isSlice(f) || w.plain(f):
		return field
	case w.isStatus(f) && pointer(f, optional):
		return code.Parens(code.Op("*").Add(w.goType(f.GoType))).Call(field)
	case pointer(f, optional):
		return code.Id("ifSet").Call(field, w.convertFunc(f))
	}
	return w.convert(f, field)
}

// plain reports whether a value of the field travels as it is.
func (w *writer) plain(f *plan.Field) bool {
	return (f.Codec == plan.Direct || f.Codec == plan.JSONBytes || f.Codec == plan.WallTime && f.Bare) && !w.isStatus(f)
}

// convert is a value of the field, not null, as its column keeps it.
func (w *writer) convert(f *plan.Field, value *code.Statement) *code.Statement {
	if f.Codec == plan.Seconds {
		return value.Dot("Seconds").Call()
	}
	if since := sinceEpoch(f.Codec); since != nil {
		if f.Fraction {
			return code.Id("inUnits").Call(value, timeUnit(f))
		}
		number := since(value)
		if f.TimeIsText() {
			return code.Id("inDigits").Call(number, code.Lit(f.Width))
		}
		return number
	}
	zoned := value
	if !f.Bare && (f.Codec == plan.TextTime || f.Codec == plan.WallTime) {
		zoned = value.Dot(zoneMethod(f)).Call()
	}
	switch f.Codec {
	case plan.TextTime:
		return zoned.Dot("Format").Call(code.Lit(f.Layout))
	case plan.WallTime:
		return zoned
	}
	if w.isStatus(f) {
		return w.goType(f.GoType).Call(value)
	}
	return value
}

// sinceEpoch returns what tells a time as a number, nil where it is none.
func sinceEpoch(codec plan.Codec) func(at *code.Statement) *code.Statement {
	if codec == plan.EpochNS {
		return func(at *code.Statement) *code.Statement { return code.Id("unixNano").Call(at) }
	}
	if method := unixMethods[codec]; method != "" {
		return func(at *code.Statement) *code.Statement { return at.Dot(method).Call() }
	}
	return nil
}

// unixMethods are the methods of a time that tell it as a number, whatever the time.
var unixMethods = map[plan.Codec]string{plan.Epoch: "Unix", plan.EpochMS: "UnixMilli", plan.EpochUS: "UnixMicro"}

// timeUnit is what a time that counts from 1970 counts.
func timeUnit(f *plan.Field) *code.Statement {
	return code.Qual("time", map[plan.Codec]string{plan.Epoch: "Second", plan.EpochMS: "Millisecond", plan.EpochUS: "Microsecond", plan.EpochNS: "Nanosecond"}[f.Codec])
}

// convertFunc is convert as a function.
func (w *writer) convertFunc(f *plan.Field) *code.Statement {
	switch {
	case f.Codec == plan.Seconds:
		return code.Qual("time", "Duration").Dot("Seconds")
	case f.TimeIsNumber() && f.Codec == plan.EpochNS:
		return code.Id("unixNano")
	case f.TimeIsNumber():
		return code.Qual("time", "Time").Dot(unixMethods[f.Codec])
	case f.Codec == plan.WallTime:
		return code.Qual("time", "Time").Dot(zoneMethod(f))
	}
	return code.Func().Params(code.Id("t").Qual("time", "Time")).String().Add(inline(code.Return(w.convert(f, code.Id("t")))))
}

// zoneMethod moves a time to the zone of a column that has none.
func zoneMethod(f *plan.Field) string {
	if f.UTC {
		return "UTC"
	}
	return "Local"
}

// sentName is the name of the Go type of what value and convert return.
func (w *writer) sentName(f *plan.Field) string {
	switch {
	case f.Codec == plan.Seconds:
		return "float64"
	case f.TimeIsNumber():
		return "int64"
	case f.TimeIsText():
		return "string"
	}
	return f.GoType
}

// sentType is the type of that name.
func (w *writer) sentType(f *plan.Field) *code.Statement { return w.goType(w.sentName(f)) }

// field is the field of an element of a batch.
func (w *writer) field(f *plan.Field, from source) *code.Statement {
	if from.keys {
		return w.keyField(f)
	}
	if !from.done {
		return code.Id("j").Dot(f.Name)
	}
	own := f.Name == "Job" // which Done has itself
	for _, o := range w.extras() {
		if o.field.Name == f.Name {
			return code.Id("d").Dot(o.member)
		}
		own = own || o.member == f.Name
	}
	if own {
		return code.Id("d").Dot("Job").Dot(f.Name)
	}
	return code.Id("d").Dot(f.Name)
}

// sent is the field of an argument over elements of a batch. What a claim left in a local
// time goes back as it was read, because the hour that clocks leave out is none in its zone.
func (w *writer) sent(f *plan.Field, kind plan.ArgKind, from source) *plan.Field {
	held := kind == plan.ArgBatch || kind == plan.ArgBatchAll || kind == plan.ArgList
	given := from.done && slices.ContainsFunc(w.extras(), func(o extra) bool { return o.field.Name == f.Name })
	if !held || given || !f.Fence || !isLocal(f) {
		return f
	}
	bare := *f
	bare.Bare = true
	return &bare
}

// isLocal reports whether the times of a field are on the clock of the session.
func isLocal(f *plan.Field) bool {
	return !f.UTC && (f.Codec == plan.TextTime || f.Codec == plan.WallTime)
}

// itemParam is the parameter of a function over an element of a batch.
func itemParam(from source) *code.Statement {
	switch {
	case from.keys:
		return code.Id("k").Add(from.item.Clone())
	case from.done:
		return code.Id("d").Add(from.item.Clone())
	}
	return code.Id("j").Add(from.item.Clone())
}

// batch is one field over all elements, as an array:
//
//	column(jobs, func(j Job) int64 { return j.MsgID })
//	textArray(jobs, func(j Job) any { return j.MsgID })
func (w *writer) batch(a plan.Arg, from source) *code.Statement {
	optional := a.Kind == plan.ArgNewBatch && a.Field.Optional
	value := w.field(a.Field, from)
	a.Field = w.sent(a.Field, a.Kind, from)
	if w.Slices {
		typ, element := w.slot(a.Field, value)
		return code.Id("column").Call(from.many.Clone(), code.Func().Params(itemParam(from)).Add(typ).Add(inline(code.Return(element))))
	}
	if w.isPgx() {
		typ := w.sentType(a.Field)
		if pointer(a.Field, optional) {
			typ = code.Op("*").Add(typ)
		}
		return code.Id("column").Call(from.many.Clone(), code.Func().Params(itemParam(from)).Add(typ).Add(
			inline(code.Return(w.value(a.Field, value, optional)))))
	}
	return code.Id("textArray").Call(from.many.Clone(), code.Func().Params(itemParam(from)).Any().Add(
		inline(code.Return(w.element(a.Field, value, optional)))))
}

// slot is a value within a slice that travels as an array, and its type: a
// number, bytes or a text, of which the empty one is null.
func (w *writer) slot(f *plan.Field, field *code.Statement) (typ, value *code.Statement) {
	sent := w.sentName(f)
	as := func(goType string, value *code.Statement) *code.Statement {
		if sent == goType && !w.isStatus(f) {
			return value
		}
		return code.Id(goType).Call(value)
	}
	number := func(name, goType string) (typ, value *code.Statement) {
		if pointer(f, false) {
			return code.Qual("database/sql", "Null"+name), code.Id("null" + name).Call(field)
		}
		return code.Id(goType), as(goType, w.convert(f, field))
	}
	switch {
	case isSlice(f) && f.GoType != "json.RawMessage":
		return code.Index().Byte(), as("[]byte", field)
	case sent == "float64" || sent == "float32":
		return number("Float64", "float64")
	case strings.HasPrefix(sent, "int") || strings.HasPrefix(sent, "uint"):
		return number("Int64", "int64")
	case pointer(f, false):
		return code.String(), code.Id("orZero").Call(w.value(f, field, false))
	}
	return code.String(), as("string", w.convert(f, field))
}

// element is a value within a text array: nil when it is null.
func (w *writer) element(f *plan.Field, field *code.Statement, optional bool) *code.Statement {
	switch {
	case f.GoType == "json.RawMessage":
		return code.Id("jsonText").Call(field)
	case f.Codec == plan.WallTime && pointer(f, optional), !w.plain(f) && pointer(f, optional):
		return code.Id("orNull").Call(w.value(f, field, optional))
	case pointer(f, optional):
		return code.Id("orNull").Call(field)
	}
	return w.value(f, field, optional)
}

// batchAll is all elements as JSON:
//
//	jsonRows(jobs, func(j Job) []any { return []any{j.MsgID, j.Token} })
func (w *writer) batchAll(a plan.Arg, from source) *code.Statement {
	return code.Id("jsonRows").Call(from.many.Clone(), code.Func().Params(itemParam(from)).Index().Any().Add(
		inline(code.Return(code.Index().Any().ValuesFunc(func(g *code.Group) {
			for _, f := range a.Batch {
				g.Add(w.jsonValue(w.sent(f, a.Kind, from), w.field(f, from), a.Kind == plan.ArgNewAll && f.Optional))
			}
		})))))
}

// jsonValue is a value within JSON.
func (w *writer) jsonValue(f *plan.Field, field *code.Statement, optional bool) *code.Statement {
	switch f.GoType {
	case "json.RawMessage":
		return code.Id("jsonText").Call(field)
	case "[]byte":
		return code.Id("hexText").Call(field)
	}
	return w.value(f, field, optional)
}

// keyField is one part of a Key k, of the type that it has in a Job.
func (w *writer) keyField(f *plan.Field) *code.Statement {
	part := code.Id("k")
	if len(w.Key) > 1 {
		part = part.Dot(f.Name)
	}
	if isSlice(f) {
		return code.Index().Byte().Call(part)
	}
	return part
}

// keyPart is one part of a Key k, as its column keeps it.
func (w *writer) keyPart(f *plan.Field) *code.Statement {
	if isSlice(f) {
		return w.keyField(f)
	}
	return w.convert(f, w.keyField(f))
}

// held is one part of the keys held by a transaction.
func (w *writer) held(f *plan.Field) *code.Statement {
	function, typ := "textArray", code.Any()
	if w.isPgx() {
		function, typ = "column", w.sentType(f)
		if isSlice(f) {
			typ = code.Index().Byte()
		}
	}
	return code.Id(function).Call(code.Id("t").Dot("held"),
		code.Func().Params(code.Id("k").Id("Key")).Add(typ).Add(inline(code.Return(w.keyPart(f)))))
}

// list is a list that is written into the text of its statement:
//
//	list{first: "(id = ?)", more: " OR (id = ?)", pad: true, rows: column(jobs, func(j Job) []any { return []any{j.ID, j.Tries} })}
func (w *writer) list(s *plan.Statement, a plan.Arg, from source) *code.Statement {
	values := func(param *code.Statement, fill func(g *code.Group)) *code.Statement {
		return code.Func().Params(param).Index().Any().Add(inline(code.Return(code.Index().Any().ValuesFunc(fill))))
	}
	var rows *code.Statement
	switch {
	case a.Kind == plan.ArgParamList:
		element := elementOf(a.Param)
		rows = code.Id("column").Call(code.Id(a.Param.Name), values(code.Id("v").Add(w.goType(element.GoType)), func(g *code.Group) {
			g.Add(w.value(&element, code.Id("v"), false))
		}))
	case a.Kind == plan.ArgHeldList:
		rows = code.Id("column").Call(code.Id("t").Dot("held"), values(code.Id("k").Id("Key"), func(g *code.Group) {
			for _, f := range a.Batch {
				g.Add(w.keyPart(f))
			}
		}))
	case from.many == nil:
		w.fail("%s: there are no jobs for a list", s.Name)
		return code.Nil()
	default:
		rows = code.Id("column").Call(from.many.Clone(), values(itemParam(from), func(g *code.Group) {
			for _, f := range a.Batch {
				g.Add(w.value(w.sent(f, a.Kind, from), w.field(f, from), a.Kind == plan.ArgNewList && f.Optional))
			}
		}))
	}
	return code.Id("list").ValuesFunc(func(g *code.Group) {
		g.Id("first").Op(":").Lit(a.First)
		g.Id("more").Op(":").Lit(a.More)
		if a.None != "" {
			g.Id("none").Op(":").Lit(a.None)
		}
		if a.Pad {
			g.Id("pad").Op(":").True()
		}
		g.Id("rows").Op(":").Add(rows)
	})
}

// heldAll is the keys held by a transaction as JSON.
func (w *writer) heldAll(fields []*plan.Field) *code.Statement {
	return code.Id("jsonRows").Call(code.Id("t").Dot("held"), code.Func().Params(code.Id("k").Id("Key")).Index().Any().Add(
		inline(code.Return(code.Index().Any().ValuesFunc(func(g *code.Group) {
			for _, f := range fields {
				if isSlice(f) {
					g.Id("hexText").Call(w.keyPart(f))
				} else {
					g.Add(w.keyPart(f))
				}
			}
		})))))
}

// listName is the variable that holds a list parameter as JSON.
func listName(p *plan.Param) string { return p.Name + "JSON" }

// elementOf is one element of a list parameter of Claim.
func elementOf(p *plan.Param) plan.Field {
	element := plan.Field{}
	if p.Field != nil {
		element = *p.Field
	}
	element.GoType, element.Null = strings.TrimPrefix(p.GoType, "[]"), false
	return element
}

// paramValue is a parameter of Claim as the driver takes it.
func (w *writer) paramValue(p *plan.Param, json func(name string, rows *code.Statement) *code.Statement) *code.Statement {
	name := code.Id(p.Name)
	if !p.List {
		if p.Field == nil {
			return name
		}
		f := *p.Field
		f.GoType = strings.TrimPrefix(p.GoType, "*")
		f.Null = strings.HasPrefix(p.GoType, "*")
		if w.isStatus(p.Field) {
			return name // the parameter has the column's own type
		}
		return w.value(&f, name, false)
	}
	element := elementOf(p)
	param := code.Id("v").Add(w.goType(element.GoType))
	switch {
	case p.JSON:
		return json(listName(p), code.Id("jsonRows").Call(name, code.Func().Params(param).Any().Add(
			inline(code.Return(w.jsonValue(&element, code.Id("v"), false))))))
	case w.isPgx() && w.plain(&element) && p.Filled:
		return code.Null().Append(code.Index().Add(w.goType(element.GoType)).Values(), name.Op("..."))
	case w.isPgx() && w.plain(&element):
		return name
	case w.isPgx():
		return code.Id("column").Call(name, code.Func().Params(param).Add(w.sentType(&element)).Add(
			inline(code.Return(w.value(&element, code.Id("v"), false)))))
	}
	return code.Id("textArray").Call(name, code.Func().Params(param).Any().Add(
		inline(code.Return(w.element(&element, code.Id("v"), false)))))
}

// columnFunc emits
//
//	func column[S, T any](from []S, value func(S) T) []T {
//		values := make([]T, len(from))
//		for i, s := range from {
//			values[i] = value(s)
//		}
//		return values
//	}
func (w *writer) columnFunc(f *code.File) {
	decl(f, []string{"column is one value of every element."},
		code.Func().Id("column").Types(code.List(code.Id("S"), code.Id("T")).Any()).
			Params(code.Id("from").Index().Id("S"), code.Id("value").Func().Params(code.Id("S")).Id("T")).Index().Id("T").Block(
			code.Id("values").Op(":=").Make(code.Index().Id("T"), code.Len(code.Id("from"))),
			code.For(code.List(code.Id("i"), code.Id("s")).Op(":=").Range().Id("from")).Block(
				code.Id("values").Index(code.Id("i")).Op("=").Id("value").Call(code.Id("s")),
			),
			code.Return(code.Id("values")),
		))
}

// cutPartsFunc emits
//
//	func cutParts[S any, T string | []byte](from []S, most int, value func(S) T) []T {
//		var all []T
//		for _, s := range from {
//			rest := value(s)
//			for len(rest) > most {
//				end := most
//				for end > most-utf8.UTFMax && !utf8.RuneStart(rest[end]) {
//					end--
//				}
//				all, rest = append(all, rest[:end]), rest[end:]
//			}
//			all = append(all, rest)
//		}
//		return all
//	}
func (w *writer) cutPartsFunc(f *code.File) {
	rest, end := code.Id("rest"), code.Id("end")
	decl(f, []string{"cutParts is one value of every element, in parts of at most most bytes which begin with a character. A short value, and an empty one, is one part."},
		code.Func().Id("cutParts").Types(code.List(code.Id("S").Any(), code.Id("T").Add(code.String().Op("|").Index().Byte()))).
			Params(code.Id("from").Index().Id("S"), code.Id("most").Int(), code.Id("value").Func().Params(code.Id("S")).Id("T")).Index().Id("T").Block(
			code.Var().Id("all").Index().Id("T"),
			code.For(code.List(code.Op("_"), code.Id("s")).Op(":=").Range().Id("from")).Block(
				rest.Clone().Op(":=").Id("value").Call(code.Id("s")),
				code.For(code.Len(rest.Clone()).Op(">").Id("most")).Block(
					end.Clone().Op(":=").Id("most"),
					code.For(end.Clone().Op(">").Id("most").Op("-").Qual("unicode/utf8", "UTFMax").Op("&&").Op("!").Qual("unicode/utf8", "RuneStart").Call(rest.Clone().Index(end.Clone()))).Block(
						end.Clone().Op("--"),
					),
					code.Id("all").Op("=").Append(code.Id("all"), rest.Clone().Index(code.Op(":").Add(end.Clone()))),
					rest.Clone().Op("=").Add(rest.Clone()).Index(end.Clone().Op(":")),
				),
				code.Id("all").Op("=").Append(code.Id("all"), rest.Clone()),
			),
			code.Return(code.Id("all")),
		))
}

// partOfFunc emits
//
//	func partOf[S any, T string | []byte](from []S, most int, value func(S) T) []int64 {
//		var of []int64
//		for i := range from {
//			for range cutParts(from[i:i+1], most, value) {
//				of = append(of, int64(i+1))
//			}
//		}
//		return of
//	}
func (w *writer) partOfFunc(f *code.File) {
	decl(f, []string{"partOf tells of each part that cutParts makes to which element it belongs, counted from 1."},
		code.Func().Id("partOf").Types(code.List(code.Id("S").Any(), code.Id("T").Add(code.String().Op("|").Index().Byte()))).
			Params(code.Id("from").Index().Id("S"), code.Id("most").Int(), code.Id("value").Func().Params(code.Id("S")).Id("T")).Index().Int64().Block(
			code.Var().Id("of").Index().Int64(),
			code.For(code.Id("i").Op(":=").Range().Id("from")).Block(
				code.For(code.Range().Id("cutParts").Call(code.Id("from").Index(code.Id("i").Op(":").Id("i").Op("+").Lit(1)), code.Id("most"), code.Id("value"))).Block(
					code.Id("of").Op("=").Append(code.Id("of"), code.Int64().Call(code.Id("i").Op("+").Lit(1))),
				),
			),
			code.Return(code.Id("of")),
		))
}

// listType emits
//
//	type list struct {
//		first, more, none string
//		pad               bool
//		rows              [][]any
//	}
func (w *writer) listType(f *code.File) {
	decl(f, []string{"list is an argument that is written into the text of its statement: first stands there for the first row, more is added for each further one, and none is written where there is no row. With pad the last row may come again."},
		code.Type().Id("list").Struct(
			code.List(code.Id("first"), code.Id("more"), code.Id("none")).String(),
			code.Id("pad").Bool(),
			code.Id("rows").Index().Index().Any(),
		))
}

// expandFunc emits
//
//	func expand(text string, args []any) (string, []any) {
//		var flat []any
//		for _, arg := range args {
//			l, ok := arg.(list)
//			if !ok {
//				flat = append(flat, arg)
//				continue
//			}
//			n := len(l.rows)
//			if l.pad && n > 0 {
//				n = 1 << bits.Len(uint(n-1))
//				// or, where mostJobs is no power of two, max(n, min(1<<bits.Len(uint(n-1)), mostJobs))
//			}
//			written := l.none
//			if n > 0 {
//				written = l.first + strings.Repeat(l.more, n-1)
//			}
//			text = strings.Replace(text, l.first, written, 1)
//			// or, where placeholders have numbers, numberSlots(written, len(flat))
//			for i := range n {
//				flat = append(flat, l.rows[min(i, len(l.rows)-1)]...)
//			}
//		}
//		return text, flat
//	}
func (w *writer) expandFunc(f *code.File) {
	first, rows := code.Id("l").Dot("first"), code.Id("l").Dot("rows")
	padded := code.Lit(1).Op("<<").Qual("math/bits", "Len").Call(code.Uint().Call(code.Id("n").Op("-").Lit(1)))
	if w.Most&(w.Most-1) != 0 {
		padded = code.Id("max").Call(code.Id("n"), code.Id("min").Call(padded, code.Id("mostJobs")))
	}
	decl(f, []string{"expand writes the lists among args into text. The number of rows that may come again is rounded up to a power of two, so that a server sees few texts."},
		code.Func().Id("expand").Params(code.Id("text").String(), code.Id("args").Index().Any()).Params(code.String(), code.Index().Any()).Block(
			code.Var().Id("flat").Index().Any(),
			code.For(code.List(code.Id("_"), code.Id("arg")).Op(":=").Range().Id("args")).Block(
				code.List(code.Id("l"), code.Id("ok")).Op(":=").Id("arg").Assert(code.Id("list")),
				code.If(code.Op("!").Id("ok")).Block(
					code.Id("flat").Op("=").Append(code.Id("flat"), code.Id("arg")),
					code.Continue(),
				),
				code.Id("n").Op(":=").Len(rows.Clone()),
				code.If(code.Id("l").Dot("pad").Op("&&").Id("n").Op(">").Lit(0)).Block(
					code.Id("n").Op("=").Add(padded),
				),
				code.Id("written").Op(":=").Id("l").Dot("none"),
				code.If(code.Id("n").Op(">").Lit(0)).Block(
					code.Id("written").Op("=").Add(first.Clone()).Op("+").Qual("strings", "Repeat").Call(code.Id("l").Dot("more"), code.Id("n").Op("-").Lit(1)),
				),
				code.Id("text").Op("=").Qual("strings", "Replace").Call(code.Id("text"), first.Clone(), w.written(), code.Lit(1)),
				code.For(code.Id("i").Op(":=").Range().Id("n")).Block(
					code.Id("flat").Op("=").Append(code.Id("flat"), rows.Clone().Index(code.Id("min").Call(code.Id("i"), code.Len(rows.Clone()).Op("-").Lit(1))).Op("...")),
				),
			),
			code.Return(code.Id("text"), code.Id("flat")),
		))
}

// written is the text of a list, with numbers where placeholders have them.
func (w *writer) written() *code.Statement {
	if w.Numbered == "" {
		return code.Id("written")
	}
	return code.Id("numberSlots").Call(code.Id("written"), code.Len(code.Id("flat")))
}

// numberSlotsFunc emits
//
//	func numberSlots(text string, after int) string {
//		var b strings.Builder
//		for i, part := range strings.Split(text, "@p0") {
//			if i > 0 {
//				b.WriteString("@p" + strconv.Itoa(after+i))
//			}
//			b.WriteString(part)
//		}
//		return b.String()
//	}
func (w *writer) numberSlotsFunc(f *code.File) {
	decl(f, []string{"numberSlots gives the placeholders of a list their numbers, which follow after."},
		code.Func().Id("numberSlots").Params(code.Id("text").String(), code.Id("after").Int()).String().Block(
			code.Var().Id("b").Qual("strings", "Builder"),
			code.For(code.List(code.Id("i"), code.Id("part")).Op(":=").Range().Qual("strings", "Split").Call(code.Id("text"), code.Lit(w.Slot))).Block(
				code.If(code.Id("i").Op(">").Lit(0)).Block(
					code.Id("b").Dot("WriteString").Call(code.Lit(w.Numbered).Op("+").Qual("strconv", "Itoa").Call(code.Id("after").Op("+").Id("i"))),
				),
				code.Id("b").Dot("WriteString").Call(code.Id("part")),
			),
			code.Return(code.Id("b").Dot("String").Call()),
		))
}

// lists reports whether any statement holds a list.
func (w *writer) lists() bool {
	return slices.ContainsFunc(w.Statements(), func(s *plan.Statement) bool { return slices.ContainsFunc(s.Args, plan.Arg.IsList) })
}

// expanded emits text, args = expand(text, args) where there are lists.
func (w *writer) expanded(g *code.Group) {
	if w.lists() {
		g.List(code.Id("text"), code.Id("args")).Op("=").Id("expand").Call(code.Id("text"), code.Id("args"))
	}
}

// textArrayFunc emits
//
//	func textArray[S any](from []S, value func(S) any) string {
//		var b strings.Builder
//		b.WriteByte('{')
//		for i, s := range from {
//			if i > 0 {
//				b.WriteByte(',')
//			}
//			switch v := value(s).(type) {
//			case nil:
//				b.WriteString("NULL")
//			case time.Time:
//				b.WriteString(v.Format(`"2006-01-02 15:04:05.999999Z07:00"`))
//			case []byte:
//				fmt.Fprintf(&b, `"\\x%x"`, v)
//			case string:
//				b.WriteString(`"` + arrayEscapes.Replace(v) + `"`)
//			default:
//				fmt.Fprint(&b, v)
//			}
//		}
//		b.WriteByte('}')
//		return b.String()
//	}
func (w *writer) textArrayFunc(f *code.File) {
	write := func(method string, arg *code.Statement) *code.Statement { return code.Id("b").Dot(method).Call(arg) }
	decl(f, []string{"arrayEscapes keeps a quote from ending an element of an array."},
		code.Var().Id("arrayEscapes").Op("=").Qual("strings", "NewReplacer").Call(code.Id("`\\`"), code.Id("`\\\\`"), code.Id("`\"`"), code.Id("`\\\"`")))
	decl(f, []string{"textArray writes one value of every element as an array: {1,NULL} or {\"a\",\"b\"}."},
		code.Func().Id("textArray").Types(code.Id("S").Any()).
			Params(code.Id("from").Index().Id("S"), code.Id("value").Func().Params(code.Id("S")).Any()).String().Block(
			code.Var().Id("b").Qual("strings", "Builder"),
			write("WriteByte", code.LitRune('{')),
			code.For(code.List(code.Id("i"), code.Id("s")).Op(":=").Range().Id("from")).Block(
				code.If(code.Id("i").Op(">").Lit(0)).Block(write("WriteByte", code.LitRune(','))),
				code.Switch(code.Id("v").Op(":=").Id("value").Call(code.Id("s")).Assert(code.Type())).Block(
					code.Case(code.Nil()).Block(write("WriteString", code.Lit("NULL"))),
					code.Case(code.Qual("time", "Time")).Block(write("WriteString", code.Id("v").Dot("Format").Call(code.Id("`\"2006-01-02 15:04:05.999999Z07:00\"`")))),
					code.Case(code.Index().Byte()).Block(code.Qual("fmt", "Fprintf").Call(code.Op("&").Id("b"), code.Id("`\"\\\\x%x\"`"), code.Id("v"))),
					code.Case(code.String()).Block(write("WriteString", code.Id("`\"`").Op("+").Id("arrayEscapes").Dot("Replace").Call(code.Id("v")).Op("+").Id("`\"`"))),
					code.Default().Block(code.Qual("fmt", "Fprint").Call(code.Op("&").Id("b"), code.Id("v"))),
				),
			),
			write("WriteByte", code.LitRune('}')),
			code.Return(code.Id("b").Dot("String").Call()),
		))
}

// jsonRowsFunc emits
//
//	func jsonRows[S, T any](from []S, values func(S) T) (string, error) {
//		rows := make([]T, len(from))
//		for i, s := range from {
//			rows[i] = values(s)
//		}
//		text, err := json.Marshal(rows)
//		return string(text), err
//	}
func (w *writer) jsonRowsFunc(f *code.File) {
	decl(f, []string{"jsonRows writes what values makes of every element as one JSON array."},
		code.Func().Id("jsonRows").Types(code.List(code.Id("S"), code.Id("T")).Any()).
			Params(code.Id("from").Index().Id("S"), code.Id("values").Func().Params(code.Id("S")).Id("T")).Params(code.String(), code.Error()).Block(
			code.Id("rows").Op(":=").Make(code.Index().Id("T"), code.Len(code.Id("from"))),
			code.For(code.List(code.Id("i"), code.Id("s")).Op(":=").Range().Id("from")).Block(
				code.Id("rows").Index(code.Id("i")).Op("=").Id("values").Call(code.Id("s")),
			),
			code.List(code.Id("text"), code.Err()).Op(":=").Qual("encoding/json", "Marshal").Call(code.Id("rows")),
			code.Return(code.String().Call(code.Id("text")), code.Err()),
		))
}

// jsonTextFunc emits
//
//	func jsonText(doc json.RawMessage) any {
//		if doc == nil {
//			return nil
//		}
//		return string(doc)
//	}
func (w *writer) jsonTextFunc(f *code.File) {
	decl(f, []string{"jsonText is a JSON document as text, nil as null."},
		code.Func().Id("jsonText").Params(code.Id("doc").Qual("encoding/json", "RawMessage")).Any().Block(
			code.If(code.Id("doc").Op("==").Nil()).Block(code.Return(code.Nil())),
			code.Return(code.String().Call(code.Id("doc"))),
		))
}

// hexTextFunc emits
//
//	func hexText(b []byte) any {
//		if b == nil {
//			return nil
//		}
//		return hex.EncodeToString(b)
//	}
func (w *writer) hexTextFunc(f *code.File) {
	decl(f, []string{"hexText is bytes as text, nil as null."},
		code.Func().Id("hexText").Params(code.Id("b").Index().Byte()).Any().Block(
			code.If(code.Id("b").Op("==").Nil()).Block(code.Return(code.Nil())),
			code.Return(code.Qual("encoding/hex", "EncodeToString").Call(code.Id("b"))),
		))
}

// orNullFunc emits
//
//	func orNull[T any](p *T) any {
//		if p == nil {
//			return nil
//		}
//		return *p
//	}
func (w *writer) orNullFunc(f *code.File) {
	decl(f, []string{"orNull is what p points to, nil when it points to nothing."},
		code.Func().Id("orNull").Types(code.Id("T").Any()).Params(code.Id("p").Op("*").Id("T")).Any().Block(
			code.If(code.Id("p").Op("==").Nil()).Block(code.Return(code.Nil())),
			code.Return(code.Op("*").Id("p")),
		))
}

// orZeroFunc emits
//
//	func orZero[T any](p *T) (v T) {
//		if p != nil {
//			v = *p
//		}
//		return v
//	}
func (w *writer) orZeroFunc(f *code.File) {
	decl(f, []string{"orZero is what p points to, the zero value when it points to nothing."},
		code.Func().Id("orZero").Types(code.Id("T").Any()).Params(code.Id("p").Op("*").Id("T")).Params(code.Id("v").Id("T")).Block(
			code.If(code.Id("p").Op("!=").Nil()).Block(code.Id("v").Op("=").Op("*").Id("p")),
			code.Return(code.Id("v")),
		))
}

// nullFunc emits
//
//	func nullInt64[T int64 | int32](p *T) (v sql.NullInt64) {
//		if p != nil {
//			v = sql.NullInt64{Int64: int64(*p), Valid: true}
//		}
//		return v
//	}
func (w *writer) nullFunc(f *code.File, name, goType string, types ...string) {
	null := code.Qual("database/sql", "Null"+name)
	union := code.Id(types[0])
	for _, t := range types[1:] {
		union.Op("|").Id(t)
	}
	decl(f, []string{"null" + name + " is the number that p points to, null when it points to nothing."},
		code.Func().Id("null"+name).Types(code.Id("T").Add(union)).Params(code.Id("p").Op("*").Id("T")).Params(code.Id("v").Add(null.Clone())).Block(
			code.If(code.Id("p").Op("!=").Nil()).Block(
				code.Id("v").Op("=").Add(null.Values(code.Id(name).Op(":").Id(goType).Call(code.Op("*").Id("p")), code.Id("Valid").Op(":").True()))),
			code.Return(code.Id("v")),
		))
}

func (w *writer) nullInt64Func(f *code.File) {
	w.nullFunc(f, "Int64", "int64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
}

func (w *writer) nullFloat64Func(f *code.File) {
	w.nullFunc(f, "Float64", "float64", "float32", "float64")
}

// ifSetFunc emits
//
//	func ifSet[T, U any](p *T, as func(T) U) *U {
//		if p == nil {
//			return nil
//		}
//		u := as(*p)
//		return &u
//	}
func (w *writer) ifSetFunc(f *code.File) {
	decl(f, []string{"ifSet converts what p points to, nil stays nil."},
		code.Func().Id("ifSet").Types(code.List(code.Id("T"), code.Id("U")).Any()).
			Params(code.Id("p").Op("*").Id("T"), code.Id("as").Func().Params(code.Id("T")).Id("U")).Op("*").Id("U").Block(
			code.If(code.Id("p").Op("==").Nil()).Block(code.Return(code.Nil())),
			code.Id("u").Op(":=").Id("as").Call(code.Op("*").Id("p")),
			code.Return(code.Op("&").Id("u")),
		))
}

// compareNullFunc emits
//
//	func compareNull[T any](a, b *T, first bool, compare func(a, b T) int) int {
//		switch {
//		case a == nil && b == nil:
//			return 0
//		case a != nil && b != nil:
//			return compare(*a, *b)
//		case (a == nil) == first:
//			return -1
//		}
//		return 1
//	}
func (w *writer) compareNullFunc(f *code.File) {
	a := func() *code.Statement { return code.Id("a") }
	decl(f, []string{"compareNull compares two values of which either may be missing; first puts the missing ones first."},
		code.Func().Id("compareNull").Types(code.Id("T").Any()).Params(
			code.List(code.Id("a"), code.Id("b")).Op("*").Id("T"), code.Id("first").Bool(),
			code.Id("compare").Func().Params(code.List(code.Id("a"), code.Id("b")).Id("T")).Int(),
		).Int().Block(
			code.Switch().Block(
				code.Case(a().Op("==").Nil().Op("&&").Id("b").Op("==").Nil()).Block(code.Return(code.Lit(0))),
				code.Case(a().Op("!=").Nil().Op("&&").Id("b").Op("!=").Nil()).Block(code.Return(code.Id("compare").Call(code.Op("*").Id("a"), code.Op("*").Id("b")))),
				code.Case(code.Parens(a().Op("==").Nil()).Op("==").Id("first")).Block(code.Return(code.Lit(-1))),
			),
			code.Return(code.Lit(1)),
		))
}

// compareNumberFunc emits
//
//	func compareNumber(a, b string) int {
//		x, isX := new(big.Rat).SetString(a)
//		y, isY := new(big.Rat).SetString(b)
//		if !isX || !isY {
//			return compareBool(!isX, !isY)
//		}
//		return x.Cmp(y)
//	}
func (w *writer) compareNumberFunc(f *code.File) {
	read := func(number, is, text string) *code.Statement {
		return code.List(code.Id(number), code.Id(is)).Op(":=").Id("new").Call(code.Qual("math/big", "Rat")).Dot("SetString").Call(code.Id(text))
	}
	decl(f, []string{"compareNumber compares decimal numbers; what is none, such as NaN, stands behind them."},
		code.Func().Id("compareNumber").Params(code.List(code.Id("a"), code.Id("b")).String()).Int().Block(
			read("x", "isX", "a"),
			read("y", "isY", "b"),
			code.If(code.Op("!").Id("isX").Op("||").Op("!").Id("isY")).Block(
				code.Return(code.Id("compareBool").Call(code.Op("!").Id("isX"), code.Op("!").Id("isY")))),
			code.Return(code.Id("x").Dot("Cmp").Call(code.Id("y"))),
		))
}

// compareBoolFunc emits
//
//	func compareBool(a, b bool) int {
//		switch {
//		case a == b:
//			return 0
//		case b:
//			return -1
//		}
//		return 1
//	}
func (w *writer) compareBoolFunc(f *code.File) {
	decl(f, []string{"compareBool puts false before true."},
		code.Func().Id("compareBool").Params(code.List(code.Id("a"), code.Id("b")).Bool()).Int().Block(
			code.Switch().Block(
				code.Case(code.Id("a").Op("==").Id("b")).Block(code.Return(code.Lit(0))),
				code.Case(code.Id("b")).Block(code.Return(code.Lit(-1))),
			),
			code.Return(code.Lit(1)),
		))
}
