package emit

// This file writes the arguments of statements, and args.go with the functions
// that some of them need.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/qgen-dev/qgen/internal/plan"
)

// source is where the arguments of a statement come from.
type source struct {
	one   *jen.Statement // the value whose fields are taken one by one: a NewJob
	many  *jen.Statement // the slice whose elements are taken together
	item  *jen.Statement // the type of an element of many
	done  bool           // the elements are Done, jobs with a result
	delay *jen.Statement // the expression for a delay
	limit *jen.Statement // the expression for what is left to take; limit when nil
	lists bool           // lists that travel as JSON are so already, see prepareLists
}

// arguments returns the expressions for the arguments of s, and the lines that
// must stand before they are used, which return fail and an error. The error
// names op; within an attempt, where op is "", the attempt does.
func (w *writer) arguments(s *plan.Statement, from source, op string, fail ...jen.Code) (before, args []jen.Code) {
	names := 0
	for _, a := range s.Args {
		// A JSON text is made by a function that may fail.
		json := func(name string, rows jen.Code) jen.Code {
			if name == "batch" {
				if names++; names > 1 {
					name += strconv.Itoa(names)
				}
			}
			err := jen.Err()
			if op != "" {
				err = jen.Qual("fmt", "Errorf").Call(jen.Lit(w.Name+": "+op+": %w"), jen.Err())
			}
			before = append(before, jen.List(jen.Id(name), jen.Err()).Op(":=").Add(rows),
				jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(append(slices.Clone(fail), err)...)))
			return jen.Id(name)
		}
		switch a.Kind {
		case plan.ArgLimit:
			if from.limit != nil {
				args = append(args, from.limit.Clone())
			} else {
				args = append(args, jen.Id("limit"))
			}
		case plan.ArgLow:
			args = append(args, jen.Id("low"))
		case plan.ArgToken:
			args = append(args, jen.Id("token"))
		case plan.ArgWorker:
			args = append(args, w.queue().Dot("worker"))
		case plan.ArgShardIdx:
			args = append(args, jen.Id("shard").Dot("Index"))
		case plan.ArgShardCnt:
			args = append(args, jen.Id("shard").Dot("Count"))
		case plan.ArgLease:
			args = append(args, jen.Id("lease").Dot("Seconds").Call())
		case plan.ArgOlder:
			args = append(args, jen.Id("olderThan").Dot("Seconds").Call())
		case plan.ArgDelay:
			if from.delay == nil {
				w.fail("%s: no delay is known", s.Name)
				continue
			}
			args = append(args, from.delay.Clone().Dot("Seconds").Call())
		case plan.ArgError:
			args = append(args, jen.Id("errorText").Call(jen.Id("cause"), jen.Lit(a.Max)))
		case plan.ArgParam:
			if from.lists && a.Param.List && a.Param.JSON {
				args = append(args, jen.Id(listName(a.Param)))
				continue
			}
			args = append(args, w.paramValue(a.Param, json))
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
		case plan.ArgBatchAll, plan.ArgNewAll:
			if from.many == nil {
				w.fail("%s: there are no jobs for an argument", s.Name)
				continue
			}
			args = append(args, json("batch", w.batchAll(a, from)))
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
func (w *writer) value(f *plan.Field, field *jen.Statement, optional bool) *jen.Statement {
	switch {
	case f.GoType == "json.RawMessage" && !w.isPgx():
		return jen.Id("jsonText").Call(field)
	case isSlice(f) || w.plain(f):
		return field
	case w.isStatus(f) && pointer(f, optional):
		return jen.Parens(jen.Op("*").Add(w.goType(f.GoType))).Call(field)
	case pointer(f, optional):
		return jen.Id("ifSet").Call(field, w.convertFunc(f))
	}
	return w.convert(f, field)
}

// plain reports whether a value of the field travels as it is.
func (w *writer) plain(f *plan.Field) bool {
	return (f.Codec == plan.Direct || f.Codec == plan.JSONBytes) && !w.isStatus(f)
}

// convert is a value of the field, not null, as its column keeps it.
func (w *writer) convert(f *plan.Field, value *jen.Statement) *jen.Statement {
	switch f.Codec {
	case plan.Epoch:
		return value.Dot("Unix").Call()
	case plan.EpochMS:
		return value.Dot("UnixMilli").Call()
	case plan.EpochUS:
		return value.Dot("UnixMicro").Call()
	case plan.TextTime:
		return value.Dot(zoneMethod(f)).Call().Dot("Format").Call(jen.Lit(f.Layout))
	case plan.WallTime:
		return value.Dot(zoneMethod(f)).Call()
	}
	if w.isStatus(f) {
		return w.goType(f.GoType).Call(value)
	}
	return value
}

// convertFunc is convert as a function.
func (w *writer) convertFunc(f *plan.Field) *jen.Statement {
	method := map[plan.Codec]string{plan.Epoch: "Unix", plan.EpochMS: "UnixMilli", plan.EpochUS: "UnixMicro", plan.WallTime: zoneMethod(f)}[f.Codec]
	if method != "" {
		return jen.Qual("time", "Time").Dot(method)
	}
	return jen.Func().Params(jen.Id("t").Qual("time", "Time")).String().Add(inline(jen.Return(w.convert(f, jen.Id("t")))))
}

// zoneMethod moves a time to the zone of a column that has none.
func zoneMethod(f *plan.Field) string {
	if f.UTC {
		return "UTC"
	}
	return "Local"
}

// sentType is the Go type of what value and convert return.
func (w *writer) sentType(f *plan.Field) *jen.Statement {
	switch f.Codec {
	case plan.Epoch, plan.EpochMS, plan.EpochUS:
		return jen.Int64()
	case plan.TextTime:
		return jen.String()
	case plan.WallTime:
		return jen.Qual("time", "Time")
	}
	return w.goType(f.GoType)
}

// field is the field of an element of a batch.
func (w *writer) field(f *plan.Field, from source) *jen.Statement {
	switch {
	case !from.done:
		return jen.Id("j").Dot(f.Name)
	case w.Complete.Result.Name == f.Name:
		return jen.Id("d").Dot("Result")
	case f.Name == "Result" || f.Name == "Job": // which Done has itself
		return jen.Id("d").Dot("Job").Dot(f.Name)
	}
	return jen.Id("d").Dot(f.Name)
}

// itemParam is the parameter of a function over an element of a batch.
func itemParam(from source) *jen.Statement {
	if from.done {
		return jen.Id("d").Add(from.item.Clone())
	}
	return jen.Id("j").Add(from.item.Clone())
}

// batch is one field over all elements, as an array:
//
//	column(jobs, func(j Job) int64 { return j.MsgID })
//	textArray(jobs, func(j Job) any { return j.MsgID })
func (w *writer) batch(a plan.Arg, from source) *jen.Statement {
	optional := a.Kind == plan.ArgNewBatch && a.Field.Optional
	value := w.field(a.Field, from)
	if w.isPgx() {
		typ := w.sentType(a.Field)
		if pointer(a.Field, optional) {
			typ = jen.Op("*").Add(typ)
		}
		return jen.Id("column").Call(from.many.Clone(), jen.Func().Params(itemParam(from)).Add(typ).Add(
			inline(jen.Return(w.value(a.Field, value, optional)))))
	}
	return jen.Id("textArray").Call(from.many.Clone(), jen.Func().Params(itemParam(from)).Any().Add(
		inline(jen.Return(w.element(a.Field, value, optional)))))
}

// element is a value within a text array: nil when it is null.
func (w *writer) element(f *plan.Field, field *jen.Statement, optional bool) *jen.Statement {
	switch {
	case f.GoType == "json.RawMessage":
		return jen.Id("jsonText").Call(field)
	case f.Codec == plan.WallTime && pointer(f, optional), !w.plain(f) && pointer(f, optional):
		return jen.Id("orNull").Call(w.value(f, field, optional))
	case pointer(f, optional):
		return jen.Id("orNull").Call(field)
	}
	return w.value(f, field, optional)
}

// batchAll is all elements as JSON:
//
//	jsonRows(jobs, func(j Job) []any { return []any{j.MsgID, j.Token} })
func (w *writer) batchAll(a plan.Arg, from source) *jen.Statement {
	return jen.Id("jsonRows").Call(from.many.Clone(), jen.Func().Params(itemParam(from)).Index().Any().Add(
		inline(jen.Return(jen.Index().Any().ValuesFunc(func(g *jen.Group) {
			for _, f := range a.Batch {
				g.Add(w.jsonValue(f, w.field(f, from), a.Kind == plan.ArgNewAll && f.Optional))
			}
		})))))
}

// jsonValue is a value within JSON.
func (w *writer) jsonValue(f *plan.Field, field *jen.Statement, optional bool) *jen.Statement {
	switch f.GoType {
	case "json.RawMessage":
		return jen.Id("jsonText").Call(field)
	case "[]byte":
		return jen.Id("hexText").Call(field)
	}
	return w.value(f, field, optional)
}

// held is one part of the keys held by a transaction.
func (w *writer) held(f *plan.Field) *jen.Statement {
	part := func(k *jen.Statement) *jen.Statement {
		if len(w.Key) == 1 {
			return k
		}
		return k.Dot(f.Name)
	}
	value := w.convert(f, part(jen.Id("k")))
	if w.isPgx() {
		typ := w.sentType(f)
		if isSlice(f) {
			typ, value = jen.Index().Byte(), jen.Index().Byte().Call(part(jen.Id("k")))
		}
		return jen.Id("column").Call(jen.Id("t").Dot("held"), jen.Func().Params(jen.Id("k").Id("Key")).Add(typ).Add(inline(jen.Return(value))))
	}
	if isSlice(f) {
		value = jen.Index().Byte().Call(part(jen.Id("k")))
	}
	return jen.Id("textArray").Call(jen.Id("t").Dot("held"), jen.Func().Params(jen.Id("k").Id("Key")).Any().Add(inline(jen.Return(value))))
}

// heldAll is the keys held by a transaction as JSON.
func (w *writer) heldAll(fields []*plan.Field) *jen.Statement {
	return jen.Id("jsonRows").Call(jen.Id("t").Dot("held"), jen.Func().Params(jen.Id("k").Id("Key")).Index().Any().Add(
		inline(jen.Return(jen.Index().Any().ValuesFunc(func(g *jen.Group) {
			for _, f := range fields {
				part := jen.Id("k")
				if len(w.Key) > 1 {
					part = part.Dot(f.Name)
				}
				if isSlice(f) {
					g.Id("hexText").Call(jen.Index().Byte().Call(part))
				} else {
					g.Add(w.convert(f, part))
				}
			}
		})))))
}

// listName is the variable that holds a list parameter as JSON.
func listName(p *plan.Param) string { return p.Name + "JSON" }

// paramValue is a parameter of Claim as the driver takes it.
func (w *writer) paramValue(p *plan.Param, json func(name string, rows jen.Code) jen.Code) jen.Code {
	name := jen.Id(p.Name)
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
	element := plan.Field{GoType: strings.TrimPrefix(p.GoType, "[]")}
	if p.Field != nil {
		element = *p.Field
		element.GoType, element.Null = strings.TrimPrefix(p.GoType, "[]"), false
	}
	param := jen.Id("v").Add(w.goType(element.GoType))
	switch {
	case p.JSON:
		return json(listName(p), jen.Id("jsonRows").Call(name, jen.Func().Params(param).Any().Add(
			inline(jen.Return(w.jsonValue(&element, jen.Id("v"), false))))))
	case w.isPgx() && w.plain(&element):
		return name
	case w.isPgx():
		return jen.Id("column").Call(name, jen.Func().Params(param).Add(w.sentType(&element)).Add(
			inline(jen.Return(w.value(&element, jen.Id("v"), false)))))
	}
	return jen.Id("textArray").Call(name, jen.Func().Params(param).Any().Add(
		inline(jen.Return(w.element(&element, jen.Id("v"), false)))))
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
func (w *writer) columnFunc(f *jen.File) {
	decl(f, []string{"column is one value of every element."},
		jen.Func().Id("column").Types(jen.List(jen.Id("S"), jen.Id("T")).Any()).
			Params(jen.Id("from").Index().Id("S"), jen.Id("value").Func().Params(jen.Id("S")).Id("T")).Index().Id("T").Block(
			jen.Id("values").Op(":=").Make(jen.Index().Id("T"), jen.Len(jen.Id("from"))),
			jen.For(jen.List(jen.Id("i"), jen.Id("s")).Op(":=").Range().Id("from")).Block(
				jen.Id("values").Index(jen.Id("i")).Op("=").Id("value").Call(jen.Id("s")),
			),
			jen.Return(jen.Id("values")),
		))
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
func (w *writer) textArrayFunc(f *jen.File) {
	write := func(method string, arg jen.Code) *jen.Statement { return jen.Id("b").Dot(method).Call(arg) }
	decl(f, []string{"arrayEscapes keeps a quote from ending an element of an array."},
		jen.Var().Id("arrayEscapes").Op("=").Qual("strings", "NewReplacer").Call(jen.Id("`\\`"), jen.Id("`\\\\`"), jen.Id("`\"`"), jen.Id("`\\\"`")))
	decl(f, []string{"textArray writes one value of every element as an array: {1,NULL} or {\"a\",\"b\"}."},
		jen.Func().Id("textArray").Types(jen.Id("S").Any()).
			Params(jen.Id("from").Index().Id("S"), jen.Id("value").Func().Params(jen.Id("S")).Any()).String().Block(
			jen.Var().Id("b").Qual("strings", "Builder"),
			write("WriteByte", jen.LitRune('{')),
			jen.For(jen.List(jen.Id("i"), jen.Id("s")).Op(":=").Range().Id("from")).Block(
				jen.If(jen.Id("i").Op(">").Lit(0)).Block(write("WriteByte", jen.LitRune(','))),
				jen.Switch(jen.Id("v").Op(":=").Id("value").Call(jen.Id("s")).Assert(jen.Type())).Block(
					jen.Case(jen.Nil()).Block(write("WriteString", jen.Lit("NULL"))),
					jen.Case(jen.Qual("time", "Time")).Block(write("WriteString", jen.Id("v").Dot("Format").Call(jen.Id("`\"2006-01-02 15:04:05.999999Z07:00\"`")))),
					jen.Case(jen.Index().Byte()).Block(jen.Qual("fmt", "Fprintf").Call(jen.Op("&").Id("b"), jen.Id("`\"\\\\x%x\"`"), jen.Id("v"))),
					jen.Case(jen.String()).Block(write("WriteString", jen.Id("`\"`").Op("+").Id("arrayEscapes").Dot("Replace").Call(jen.Id("v")).Op("+").Id("`\"`"))),
					jen.Default().Block(jen.Qual("fmt", "Fprint").Call(jen.Op("&").Id("b"), jen.Id("v"))),
				),
			),
			write("WriteByte", jen.LitRune('}')),
			jen.Return(jen.Id("b").Dot("String").Call()),
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
func (w *writer) jsonRowsFunc(f *jen.File) {
	decl(f, []string{"jsonRows writes what values makes of every element as one JSON array."},
		jen.Func().Id("jsonRows").Types(jen.List(jen.Id("S"), jen.Id("T")).Any()).
			Params(jen.Id("from").Index().Id("S"), jen.Id("values").Func().Params(jen.Id("S")).Id("T")).Params(jen.String(), jen.Error()).Block(
			jen.Id("rows").Op(":=").Make(jen.Index().Id("T"), jen.Len(jen.Id("from"))),
			jen.For(jen.List(jen.Id("i"), jen.Id("s")).Op(":=").Range().Id("from")).Block(
				jen.Id("rows").Index(jen.Id("i")).Op("=").Id("values").Call(jen.Id("s")),
			),
			jen.List(jen.Id("text"), jen.Err()).Op(":=").Qual("encoding/json", "Marshal").Call(jen.Id("rows")),
			jen.Return(jen.String().Call(jen.Id("text")), jen.Err()),
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
func (w *writer) jsonTextFunc(f *jen.File) {
	decl(f, []string{"jsonText is a JSON document as text, nil as null."},
		jen.Func().Id("jsonText").Params(jen.Id("doc").Qual("encoding/json", "RawMessage")).Any().Block(
			jen.If(jen.Id("doc").Op("==").Nil()).Block(jen.Return(jen.Nil())),
			jen.Return(jen.String().Call(jen.Id("doc"))),
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
func (w *writer) hexTextFunc(f *jen.File) {
	decl(f, []string{"hexText is bytes as text, nil as null."},
		jen.Func().Id("hexText").Params(jen.Id("b").Index().Byte()).Any().Block(
			jen.If(jen.Id("b").Op("==").Nil()).Block(jen.Return(jen.Nil())),
			jen.Return(jen.Qual("encoding/hex", "EncodeToString").Call(jen.Id("b"))),
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
func (w *writer) orNullFunc(f *jen.File) {
	decl(f, []string{"orNull is what p points to, nil when it points to nothing."},
		jen.Func().Id("orNull").Types(jen.Id("T").Any()).Params(jen.Id("p").Op("*").Id("T")).Any().Block(
			jen.If(jen.Id("p").Op("==").Nil()).Block(jen.Return(jen.Nil())),
			jen.Return(jen.Op("*").Id("p")),
		))
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
func (w *writer) ifSetFunc(f *jen.File) {
	decl(f, []string{"ifSet converts what p points to, nil stays nil."},
		jen.Func().Id("ifSet").Types(jen.List(jen.Id("T"), jen.Id("U")).Any()).
			Params(jen.Id("p").Op("*").Id("T"), jen.Id("as").Func().Params(jen.Id("T")).Id("U")).Op("*").Id("U").Block(
			jen.If(jen.Id("p").Op("==").Nil()).Block(jen.Return(jen.Nil())),
			jen.Id("u").Op(":=").Id("as").Call(jen.Op("*").Id("p")),
			jen.Return(jen.Op("&").Id("u")),
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
func (w *writer) compareNullFunc(f *jen.File) {
	a := func() *jen.Statement { return jen.Id("a") }
	decl(f, []string{"compareNull compares two values of which either may be missing; first puts the missing ones first."},
		jen.Func().Id("compareNull").Types(jen.Id("T").Any()).Params(
			jen.List(jen.Id("a"), jen.Id("b")).Op("*").Id("T"), jen.Id("first").Bool(),
			jen.Id("compare").Func().Params(jen.List(jen.Id("a"), jen.Id("b")).Id("T")).Int(),
		).Int().Block(
			jen.Switch().Block(
				jen.Case(a().Op("==").Nil().Op("&&").Id("b").Op("==").Nil()).Block(jen.Return(jen.Lit(0))),
				jen.Case(a().Op("!=").Nil().Op("&&").Id("b").Op("!=").Nil()).Block(jen.Return(jen.Id("compare").Call(jen.Op("*").Id("a"), jen.Op("*").Id("b")))),
				jen.Case(jen.Parens(a().Op("==").Nil()).Op("==").Id("first")).Block(jen.Return(jen.Lit(-1))),
			),
			jen.Return(jen.Lit(1)),
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
func (w *writer) compareBoolFunc(f *jen.File) {
	decl(f, []string{"compareBool puts false before true."},
		jen.Func().Id("compareBool").Params(jen.List(jen.Id("a"), jen.Id("b")).Bool()).Int().Block(
			jen.Switch().Block(
				jen.Case(jen.Id("a").Op("==").Id("b")).Block(jen.Return(jen.Lit(0))),
				jen.Case(jen.Id("b")).Block(jen.Return(jen.Lit(-1))),
			),
			jen.Return(jen.Lit(1)),
		))
}
