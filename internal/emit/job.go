package emit

// This file writes job.go: the row as a Go type, its key, its states, and how
// it is read.

import (
	"slices"
	"strings"

	"github.com/qgen-dev/qgen/internal/code"

	"github.com/qgen-dev/qgen/internal/plan"
)

// jobFile writes job.go, less the functions that read rows.
func (w *writer) jobFile() *code.File {
	f := w.newFile()
	w.keyType(f)
	if w.Status != nil {
		w.statusType(f)
	}
	w.jobType(f)
	w.keyMethod(f)
	for _, d := range w.Decodes {
		w.decodeMethod(f, d)
	}
	w.logValueMethod(f)
	if w.Enqueue != nil {
		w.newJobType(f)
	}
	return f
}

// jobFields lists the fields of Job: those of the table, and whatever of the
// key and the fence is not among them.
func (w *writer) jobFields() []*plan.Field {
	var all []*plan.Field
	seen := map[string]bool{}
	add := func(fields []*plan.Field) {
		for _, f := range fields {
			if !seen[f.Name] {
				seen[f.Name] = true
				all = append(all, f)
			}
		}
	}
	var hidden []*plan.Field
	for _, f := range w.Key {
		if f.RowID {
			hidden = append(hidden, f)
		}
	}
	add(hidden)
	add(w.Fields)
	add(w.Key)
	add(w.Fence)
	if w.Payload != nil {
		add(w.Payload.Fields)
	}
	return all
}

// keyFieldType is the type of a key's part: comparable.
func (w *writer) keyFieldType(f *plan.Field) *code.Statement {
	if isSlice(f) {
		return code.String()
	}
	return w.valueType(f)
}

// keyValue is a key's part from the expression of the field's value:
// comparable and the same for equal values.
func keyValue(f *plan.Field, value *code.Statement) *code.Statement {
	switch {
	case isSlice(f):
		return code.String().Call(value)
	case f.GoType == "time.Time":
		return value.Dot("UTC").Call()
	}
	return value
}

// keyType emits
//
//	type Key = int64
//
// or
//
//	type Key struct {
//		Tenant int64 `json:"tenant"` // bigint
//		ID     int64 `json:"id"`     // bigint
//	}
func (w *writer) keyType(f *code.File) {
	doc := []string{"Key names a row of " + w.tableName() + "."}
	if w.Running != "" {
		doc[0] = "Key names a job: a row of " + w.tableName() + ", and of " + oneLine(w.Running) + " while it runs."
	}
	if len(w.Key) == 1 {
		k := w.Key[0]
		if k.RowID {
			doc[0] += " It is the row's place in the table, good for as long as the row is not written by others."
		}
		decl(f, doc, code.Type().Id("Key").Op("=").Add(w.keyFieldType(k)).Comment(sqlType(k)))
		return
	}
	decl(f, doc, code.Type().Id("Key").StructFunc(func(g *code.Group) {
		for _, k := range w.Key {
			g.Id(k.Name).Add(w.keyFieldType(k)).Tag(map[string]string{"json": k.JSON}).Comment(sqlType(k))
		}
	}))
}

// sqlType is the type of a field's column, for the comment at the line's end.
func sqlType(f *plan.Field) string {
	if f.SQLType == "" {
		return oneLine(f.Column)
	}
	return strings.Join(strings.Fields(oneLine(f.SQLType)), " ")
}

// statusType emits
//
//	type Status string
//
//	const (
//		StatusReady Status = "N" // jobs that wait to be claimed
//	)
func (w *writer) statusType(f *code.File) {
	s := w.Status
	decl(f, []string{s.Name + " is the state of a row of " + w.tableName() + "."},
		code.Type().Id(s.Name).Add(w.goType(s.GoType)))
	if len(s.Consts) == 0 {
		return
	}
	decl(f, []string{"The states."}, code.Const().DefsFunc(func(g *code.Group) {
		for _, c := range s.Consts {
			line := g.Id(c.Name).Id(s.Name).Op("=").Id(c.Value)
			if c.Doc != "" {
				line.Comment(oneLine(c.Doc))
			}
		}
	}))
}

// jobType emits the struct Job.
func (w *writer) jobType(f *code.File) {
	doc := []string{"Job is a row of " + w.tableName() + "."}
	if w.Running != "" {
		doc[0] = "Job is a row of " + oneLine(w.Running) + ", to which a claim moves it from " + w.tableName() + "."
	}
	if len(w.Fence) > 0 {
		doc[0] += " Claim returns it with the marks of the claim in it, and only with those can it be settled. It may travel as JSON: what comes back can be settled as well."
	}
	decl(f, doc, code.Type().Id("Job").StructFunc(func(g *code.Group) {
		for _, field := range w.jobFields() {
			text := field.Doc
			if text == "" && w.isFence(field) {
				text = "Part of the claim: what the row must still hold when the job is settled."
			}
			if text != "" {
				for _, line := range comment([]string{text}) {
					g.Comment(line)
				}
			}
			g.Id(field.Name).Add(w.fieldType(field)).Tag(map[string]string{"json": field.JSON}).Comment(sqlType(field))
		}
		if w.Offset != nil {
			g.Comment("// The claim that the job is of, without which it cannot be settled.")
			g.Id("Held").Id("Held").Tag(map[string]string{"json": "held"})
		}
		if w.mayNotRead() {
			g.Line()
			g.Comment("// Err tells which columns could not be read; their fields are empty.")
			g.Id("Err").Error().Tag(map[string]string{"json": "-"})
		}
	}))
}

// isFence reports whether a job carries the field to be compared when it is
// settled.
func (w *writer) isFence(f *plan.Field) bool {
	return f.Fence || slices.ContainsFunc(w.Fence, func(g *plan.Field) bool { return f.Name == g.Name })
}

// mayNotRead reports whether a column may hold what its field cannot: a text
// that is no time, or anything in a database that lets a column hold any type.
func (w *writer) mayNotRead() bool {
	return !w.isPgx() || slices.ContainsFunc(w.jobFields(), (*plan.Field).TimeIsText)
}

// keyMethod emits
//
//	func (j Job) Key() Key { return j.MsgID }
func (w *writer) keyMethod(f *code.File) {
	decl(f, []string{"Key names the job's row."},
		code.Func().Add(jobReceiver()).Id("Key").Params().Id("Key").Add(inline(code.Return(w.keyOf(code.Id("j"))))))
}

// jobReceiver is (j Job).
func jobReceiver() *code.Statement { return code.Params(code.Id("j").Id("Job")) }

// keyOf is the key from the fields of a Job or a NewJob.
func (w *writer) keyOf(job *code.Statement) *code.Statement {
	if len(w.Key) == 1 {
		return keyValue(w.Key[0], job.Clone().Dot(w.Key[0].Name))
	}
	return code.Id("Key").ValuesFunc(func(g *code.Group) {
		for _, k := range w.Key {
			g.Id(k.Name).Op(":").Add(keyValue(k, job.Clone().Dot(k.Name)))
		}
	})
}

// decodeMethod emits
//
//	func (j Job) DecodeBody() (mail.Message, error) {
//		var v mail.Message
//		if err := json.Unmarshal(j.Body, &v); err != nil {
//			return v, fmt.Errorf("emailq: decode body of %v: %w", j.Key(), err)
//		}
//		return v, nil
//	}
func (w *writer) decodeMethod(f *code.File, d plan.Decode) {
	value := code.Id("j").Dot(d.Field.Name)
	if pointer(d.Field, false) {
		value = code.Op("*").Add(value)
	}
	if d.Field.GoType != "[]byte" && d.Field.GoType != "json.RawMessage" {
		value = code.Index().Byte().Call(value)
	}
	doc := d.Method + " decodes " + oneLine(d.Field.Column) + "."
	if d.Field.Null {
		doc = d.Method + " decodes " + oneLine(d.Field.Column) + "; null gives the zero value."
	}
	decl(f, []string{doc},
		code.Func().Add(jobReceiver()).Id(d.Method).Params().Params(w.goType(d.Type), code.Error()).BlockFunc(func(g *code.Group) {
			g.Var().Id("v").Add(w.goType(d.Type))
			if d.Field.Null {
				g.If(code.Id("j").Dot(d.Field.Name).Op("==").Nil()).Block(code.Return(code.Id("v"), code.Nil()))
			}
			g.If(code.Err().Op(":=").Qual("encoding/json", "Unmarshal").Call(value, code.Op("&").Id("v")), code.Err().Op("!=").Nil()).Block(
				code.Return(code.Id("v"), code.Qual("fmt", "Errorf").Call(
					code.Lit(w.Name+": decode "+strings.ReplaceAll(oneLine(d.Field.Column), "%", "%%")+" of %v: %w"), code.Id("j").Dot("Key").Call(), code.Err())),
			)
			g.Return(code.Id("v"), code.Nil())
		}))
}

// logValueMethod emits
//
//	func (j Job) LogValue() slog.Value {
//		attrs := []slog.Attr{
//			slog.Int64("msg_id", j.MsgID),
//			slog.String("body", "(redacted)"),
//		}
//		if j.NotBefore != nil {
//			attrs = append(attrs, slog.Time("not_before", *j.NotBefore))
//		}
//		return slog.GroupValue(attrs...)
//	}
func (w *writer) logValueMethod(f *code.File) {
	var always, nullable []*plan.Field
	for _, field := range w.jobFields() {
		if pointer(field, false) && !field.Payload {
			nullable = append(nullable, field)
		} else {
			always = append(always, field)
		}
	}
	attrs := func(g *code.Group) {
		for _, field := range always {
			g.Line().Add(w.logAttr(field, code.Id("j").Dot(field.Name)))
		}
		g.Line()
	}
	decl(f, []string{"LogValue shows the job in logs, without its payload."},
		code.Func().Add(jobReceiver()).Id("LogValue").Params().Qual("log/slog", "Value").BlockFunc(func(g *code.Group) {
			if len(nullable) == 0 {
				g.Return(code.Qual("log/slog", "GroupValue").CallFunc(attrs))
				return
			}
			g.Id("attrs").Op(":=").Index().Qual("log/slog", "Attr").ValuesFunc(attrs)
			for _, field := range nullable {
				g.If(code.Id("j").Dot(field.Name).Op("!=").Nil()).Block(
					code.Id("attrs").Op("=").Append(code.Id("attrs"), w.logAttr(field, code.Op("*").Id("j").Dot(field.Name))),
				)
			}
			g.Return(code.Qual("log/slog", "GroupValue").Call(code.Id("attrs").Op("...")))
		}))
}

// logAttr is the slog.Attr of one field with that value.
func (w *writer) logAttr(f *plan.Field, value *code.Statement) *code.Statement {
	attr := func(kind string, value *code.Statement) *code.Statement {
		return code.Qual("log/slog", kind).Call(code.Lit(f.JSON), value)
	}
	if f.Payload {
		return attr("String", code.Lit("(redacted)"))
	}
	kinds := map[string]string{"string": "String", "int64": "Int64", "float64": "Float64", "bool": "Bool", "time.Time": "Time", "int": "Int"}
	if f.GoType == "int32" || f.GoType == "int16" {
		return attr("Int", code.Int().Call(value))
	}
	kind, known := kinds[f.GoType]
	switch {
	case known && w.isStatus(f):
		return attr(kind, code.Id(f.GoType).Call(value))
	case known:
		return attr(kind, value)
	case f.GoType == "json.RawMessage":
		return attr("String", code.String().Call(value))
	}
	return attr("Any", value)
}

// newJobType emits the struct NewJob.
func (w *writer) newJobType(f *code.File) {
	doc := "NewJob is what Enqueue adds to " + w.tableName() + ". A nil field leaves the column to its default, or null where it has none."
	if w.Enqueue.Upsert {
		doc += " Of a row that is there already it leaves what that has."
	}
	for _, field := range w.Enqueue.Fields {
		if field.Present {
			doc += " Where " + field.Name + " is nil, the job is due at present, by the database's clock."
		}
		if field.Said != "" {
			doc += " " + field.Name + " is " + oneLine(field.Said) + "."
		}
		if field.Undue {
			doc += " Where " + field.Name + " is nil, the job is not due before something else sets it."
		}
	}
	decl(f, []string{doc},
		code.Type().Id("NewJob").StructFunc(func(g *code.Group) {
			for _, field := range w.Enqueue.Fields {
				g.Id(field.Name).Add(w.newType(field)).Tag(map[string]string{"json": field.JSON + omitEmpty(field)}).Comment(sqlType(field))
			}
		}))
}

// newType is the Go type of a field of NewJob.
func (w *writer) newType(f *plan.Field) *code.Statement {
	if pointer(f, f.Optional) {
		return code.Op("*").Add(w.valueType(f))
	}
	return w.valueType(f)
}

// omitEmpty leaves a field of NewJob that need not be given out of its JSON.
func omitEmpty(f *plan.Field) string {
	if f.Optional || f.Null {
		return ",omitempty"
	}
	return ""
}

// scanJobFunc reads what a claim returns.
func (w *writer) scanJobFunc(f *code.File) {
	w.scanFunc(f, "scanJob", "reads a job in the order of the claim's columns", w.claimRows())
}

// scanPeekedFunc reads what Peek returns, where that differs from a claim.
func (w *writer) scanPeekedFunc(f *code.File) {
	w.scanFunc(f, "scanPeeked", "reads a job in the order of Peek's columns", w.Peek.Statement.Rows)
}

// scanCandidateFunc reads what the first statement of a claim returns that
// finds rows and takes them by their keys.
func (w *writer) scanCandidateFunc(f *code.File) {
	rows := w.Key
	if w.Claim.Pick != nil && w.Claim.Accept == nil {
		rows = w.Claim.Pick.Rows
	}
	w.scanFunc(f, "scanCandidate", "reads what is needed to take a job", rows)
}

// scanExtendedFunc reads what Extend returns.
func (w *writer) scanExtendedFunc(f *code.File) {
	w.scanFunc(f, "scanExtended", "reads the key of a job and what Extend changed", refreshedRows(w.Extend))
}

// scanStartedFunc reads what Start returns.
func (w *writer) scanStartedFunc(f *code.File) {
	w.scanFunc(f, "scanStarted", "reads the key of a job and what Start changed", refreshedRows(w.Start))
}

// refreshedRows are the columns of the rows that an operation reads back.
func refreshedRows(s *plan.Settle) []*plan.Field {
	if s.Read != nil {
		return s.Read.Rows
	}
	return s.Statement.Rows
}

// claimRows are the columns that a claim returns.
func (w *writer) claimRows() []*plan.Field {
	switch {
	case w.Offset != nil:
		return w.Offset.Next.Rows
	case w.Claim == nil:
		return nil
	case w.Claim.Read != nil:
		return w.Claim.Read.Rows
	case w.Claim.Statement.Rows == nil && w.Claim.Lock != nil:
		return w.Claim.Lock.Rows
	}
	return w.Claim.Statement.Rows
}

// scanFunc emits
//
//	func scanJob(r row) (Job, error) {
//		var j Job
//		var rawCreatedAt int64
//		if err := r.Scan(&j.MsgID, &rawCreatedAt); err != nil {
//			return j, err
//		}
//		j.CreatedAt = time.Unix(rawCreatedAt, 0).UTC()
//		return j, nil
//	}
func (w *writer) scanFunc(f *code.File, name, does string, rows []*plan.Field) {
	var scan scanning
	for _, field := range rows {
		w.scanField(&scan, field, code.Id("j").Dot(field.Name))
	}
	decl(f, []string{name + " " + does + "."},
		code.Func().Id(name).Params(code.Id("r").Id("row")).Params(code.Id("Job"), code.Error()).BlockFunc(func(g *code.Group) {
			g.Var().Id("j").Id("Job")
			if w.isPgx() {
				w.scanBody(g, scan, code.Id("j"))
				return
			}
			addAll(g, scan.vars)
			g.Id("dest").Op(":=").Index().Any().Values(broken(scan.dest)...)
			g.If(code.Err().Op(":=").Id("r").Dot("Scan").Call(code.Id("dest").Op("...")), code.Err().Op("!=").Nil()).Block(
				code.Id("j").Dot("Err").Op("=").Id("scanEach").Call(code.Id("r"), code.Id("dest")),
			)
			addAll(g, scan.after)
			g.Return(code.Id("j"), code.Nil())
		}))
}

// broken puts each of many elements on a line of its own.
func broken(elements []*code.Statement) []*code.Statement {
	if len(elements) <= 6 {
		return elements
	}
	var lines []*code.Statement
	for _, e := range elements {
		lines = append(lines, code.Line().Add(e))
	}
	return append(lines, code.Line())
}

// scanEachFunc emits
//
//	func scanEach(r row, dest []any) error {
//		var errs []error
//		for i := range dest {
//			one := make([]any, len(dest))
//			for k := range one {
//				one[k] = new(any)
//			}
//			one[i] = dest[i]
//			errs = append(errs, r.Scan(one...))
//		}
//		return errors.Join(errs...)
//	}
func (w *writer) scanEachFunc(f *code.File) {
	decl(f, []string{"scanEach reads the columns of a row one by one and tells which cannot be read, so that one bad value costs neither its job nor the others of the batch."},
		code.Func().Id("scanEach").Params(code.Id("r").Id("row"), code.Id("dest").Index().Any()).Error().Block(
			code.Var().Id("errs").Index().Error(),
			code.For(code.Id("i").Op(":=").Range().Id("dest")).Block(
				code.Id("one").Op(":=").Make(code.Index().Any(), code.Len(code.Id("dest"))),
				code.For(code.Id("k").Op(":=").Range().Id("one")).Block(
					code.Id("one").Index(code.Id("k")).Op("=").New(code.Any()),
				),
				code.Id("one").Index(code.Id("i")).Op("=").Id("dest").Index(code.Id("i")),
				code.Id("errs").Op("=").Append(code.Id("errs"), code.Id("r").Dot("Scan").Call(code.Id("one").Op("..."))),
			),
			code.Return(code.Qual("errors", "Join").Call(code.Id("errs").Op("..."))),
		))
}

// scanKeyFunc emits
//
//	func scanKey(r row) (Key, error) {
//		var key Key
//		err := r.Scan(&key)
//		return key, err
//	}
func (w *writer) scanKeyFunc(f *code.File) { w.keyScan(f, "scanKey", w.Key) }

// scanNewKeyFunc reads the key of a row just added, in the order in which the
// statements return it.
func (w *writer) scanNewKeyFunc(f *code.File) { w.keyScan(f, "scanNewKey", w.Enqueue.One.Rows) }

// keyScan emits a function that reads the key from those columns.
func (w *writer) keyScan(f *code.File, name string, rows []*plan.Field) {
	var scan scanning
	for _, k := range rows {
		target := code.Id("key")
		if len(w.Key) > 1 {
			target = target.Dot(k.Name)
		}
		if !isSlice(k) && k.GoType != "time.Time" {
			w.scanField(&scan, k, target)
			continue
		}
		// The key's part has another type than the column.
		raw := "raw" + k.Name
		if isSlice(k) {
			scan.vars = append(scan.vars, code.Var().Id(raw).Index().Byte())
			scan.dest = append(scan.dest, code.Op("&").Id(raw))
			scan.after = append(scan.after, target.Op("=").String().Call(code.Id(raw)))
			continue
		}
		if k.TimeIsText() {
			w.scanText(&scan, k, target, code.Return(code.Id("key"), code.Err()))
		} else {
			w.scanField(&scan, k, target)
		}
		if k.Codec == plan.Direct || !k.UTC && (k.Codec == plan.TextTime || k.Codec == plan.WallTime) {
			scan.after = append(scan.after, target.Clone().Op("=").Add(target.Clone()).Dot("UTC").Call())
		}
	}
	decl(f, []string{name + " reads a key."},
		code.Func().Id(name).Params(code.Id("r").Id("row")).Params(code.Id("Key"), code.Error()).BlockFunc(func(g *code.Group) {
			g.Var().Id("key").Id("Key")
			w.scanBody(g, scan, code.Id("key"))
		}))
}

// scanning is how the columns of a row become Go values.
type scanning struct {
	vars  []*code.Statement // variables for what needs a conversion
	dest  []*code.Statement // arguments of Scan
	after []*code.Statement // conversions
}

// scanBody emits the body of a function that reads result from a row.
func (w *writer) scanBody(g *code.Group, scan scanning, result *code.Statement) {
	addAll(g, scan.vars)
	g.Err().Op(":=").Id("r").Dot("Scan").Call(broken(scan.dest)...)
	if len(scan.after) == 0 {
		g.Return(result, code.Err())
		return
	}
	g.Add(ifErr(result.Clone()))
	addAll(g, scan.after)
	g.Return(result.Clone(), code.Nil())
}

// scanField adds to scan how a column becomes target.
func (w *writer) scanField(scan *scanning, f *plan.Field, target *code.Statement) {
	raw := "raw" + f.Name
	through := func(typ *code.Statement, from func(value *code.Statement) *code.Statement) {
		if !f.Null {
			scan.vars = append(scan.vars, code.Var().Id(raw).Add(typ))
			scan.dest = append(scan.dest, code.Op("&").Id(raw))
			scan.after = append(scan.after, target.Clone().Op("=").Add(from(code.Id(raw))))
			return
		}
		scan.vars = append(scan.vars, code.Var().Id(raw).Op("*").Add(typ))
		scan.dest = append(scan.dest, code.Op("&").Id(raw))
		scan.after = append(scan.after, code.If(code.Id(raw).Op("!=").Nil()).Block(
			code.Id("at").Op(":=").Add(from(code.Op("*").Id(raw))),
			target.Clone().Op("=").Op("&").Id("at"),
		))
	}
	if f.TimeIsText() {
		w.scanText(scan, f, target, code.Id("j").Dot("Err").Op("=").Qual("errors", "Join").Call(code.Id("j").Dot("Err"),
			code.Qual("fmt", "Errorf").Call(code.Lit(strings.ReplaceAll("column "+oneLine(f.Column), "%", "%%")+": %w"), code.Err())))
		return
	}
	switch f.Codec {
	case plan.Epoch:
		through(code.Int64(), func(v *code.Statement) *code.Statement {
			return code.Qual("time", "Unix").Call(v, code.Lit(0)).Dot("UTC").Call()
		})
	case plan.EpochMS:
		through(code.Int64(), func(v *code.Statement) *code.Statement {
			return code.Qual("time", "UnixMilli").Call(v).Dot("UTC").Call()
		})
	case plan.EpochUS:
		through(code.Int64(), func(v *code.Statement) *code.Statement {
			return code.Qual("time", "UnixMicro").Call(v).Dot("UTC").Call()
		})
	case plan.EpochNS:
		through(code.Int64(), func(v *code.Statement) *code.Statement {
			return code.Qual("time", "Unix").Call(code.Lit(0), v).Dot("UTC").Call()
		})
	case plan.WallTime:
		through(code.Qual("time", "Time"), func(v *code.Statement) *code.Statement {
			if isLocal(f) {
				return code.Id("localClock").Call(v)
			}
			return code.Id("wallClock").Call(v, code.Qual("time", "UTC"))
		})
	default:
		dest := code.Op("&").Add(target.Clone())
		switch {
		case isBytes(f):
			dest = code.Parens(code.Op("*").Index().Byte()).Call(dest)
		case w.isStatus(f) && !f.Null:
			dest = code.Parens(code.Op("*").Add(w.goType(f.GoType))).Call(dest)
		}
		scan.dest = append(scan.dest, dest)
	}
}

// isBytes reports whether a field has a type of its own over bytes, which
// drivers do not know.
func isBytes(f *plan.Field) bool { return f.GoType == "json.RawMessage" }

// scanText adds to scan how a text becomes a time:
//
//	if at, err := parseTime(rawCreatedAt, layout, time.UTC); err != nil {
//		j.Err = errors.Join(j.Err, fmt.Errorf("created_at: %w", err))
//	} else {
//		j.CreatedAt = at
//	}
//
// with note told of what is no time.
func (w *writer) scanText(scan *scanning, f *plan.Field, target *code.Statement, note *code.Statement) {
	raw := "raw" + f.Name
	typ := code.Any()
	at := code.Id("at")
	if isLocal(f) {
		at = code.Id("localClock").Call(at)
	}
	var parse *code.Statement
	switch {
	case f.Fraction && f.Null:
		typ, parse = code.Op("*").String(), code.Id("parseUnits").Call(code.Op("*").Id(raw), timeUnit(f))
	case f.Fraction:
		typ, parse = code.String(), code.Id("parseUnits").Call(code.Id(raw), timeUnit(f))
	case f.Width > 0:
		parse = code.Id("parseDigits").Call(code.Id(raw), timeUnit(f))
	default:
		parse = code.Id("parseTime").Call(code.Id(raw), code.Lit(f.Layout), code.Qual("time", "UTC"))
	}
	scan.vars = append(scan.vars, code.Var().Id(raw).Add(typ))
	scan.dest = append(scan.dest, code.Op("&").Id(raw))
	if !f.Null {
		scan.after = append(scan.after,
			code.If(code.List(code.Id("at"), code.Err()).Op(":=").Add(parse), code.Err().Op("!=").Nil()).Block(note).
				Else().Block(target.Clone().Op("=").Add(at)))
		return
	}
	keep := []*code.Statement{target.Clone().Op("=").Op("&").Id("at")}
	if isLocal(f) {
		keep = []*code.Statement{code.Id("at").Op("=").Add(at), keep[0]}
	}
	scan.after = append(scan.after, code.If(code.Id(raw).Op("!=").Nil()).Block(
		code.If(code.List(code.Id("at"), code.Err()).Op(":=").Add(parse), code.Err().Op("!=").Nil()).Block(note).
			Else().Block(keep...)))
}

// parseTimeFunc emits
//
//	func parseTime(value any, layout string, zone *time.Location) (time.Time, error) {
//		switch v := value.(type) {
//		case time.Time:
//			return v, nil
//		case []byte:
//			return time.ParseInLocation(layout, string(v), zone)
//		case string:
//			return time.ParseInLocation(layout, v, zone)
//		}
//		return time.Time{}, fmt.Errorf("%v is no text", value)
//	}
//
// and where there are dates that are none, before the others
//
//	case []byte:
//		return parseTime(string(v), layout, zone)
//	case string:
//		if strings.HasPrefix(v, "0000-00-00") {
//			return time.Time{}, nil
//		}
//		return time.ParseInLocation(layout, v, zone)
func (w *writer) parseTimeFunc(f *code.File) {
	parse := func(text *code.Statement) *code.Statement {
		return code.Return(code.Qual("time", "ParseInLocation").Call(code.Id("layout"), text, code.Id("zone")))
	}
	none := code.Qual("time", "Time").Values()
	doc := "parseTime reads a time that is kept as text; some drivers have parsed it already."
	ofBytes, ofText := parse(code.String().Call(code.Id("v"))), []*code.Statement{parse(code.Id("v"))}
	if w.ZeroDate != "" {
		doc += " A zero date is the zero time."
		ofBytes = code.Return(code.Id("parseTime").Call(code.String().Call(code.Id("v")), code.Id("layout"), code.Id("zone")))
		ofText = []*code.Statement{code.If(code.Qual("strings", "HasPrefix").Call(code.Id("v"), code.Lit(w.ZeroDate))).Block(
			code.Return(none.Clone(), code.Nil())), ofText[0]}
	}
	if w.emptyTimes(false) {
		doc += " An empty text is the zero time, too."
		if w.ZeroDate == "" {
			doc = strings.TrimSuffix(doc, ", too.") + "."
		}
		ofBytes = code.Return(code.Id("parseTime").Call(code.String().Call(code.Id("v")), code.Id("layout"), code.Id("zone")))
		ofText = append([]*code.Statement{code.If(code.Qual("strings", "TrimRight").Call(code.Id("v"), code.Lit(" ")).Op("==").Lit("")).Block(
			code.Return(none.Clone(), code.Nil()))}, ofText...)
	}
	decl(f, []string{doc},
		code.Func().Id("parseTime").Params(code.Id("value").Any(), code.Id("layout").String(), code.Id("zone").Op("*").Qual("time", "Location")).
			Params(code.Qual("time", "Time"), code.Error()).Block(
			code.Switch(code.Id("v").Op(":=").Id("value").Assert(code.Type())).Block(
				code.Case(code.Qual("time", "Time")).Block(code.Return(code.Id("v"), code.Nil())),
				code.Case(code.Index().Byte()).Block(ofBytes),
				code.Case(code.String()).Block(ofText...),
			),
			code.Return(none, code.Qual("fmt", "Errorf").Call(code.Lit("%v is no text"), code.Id("value"))),
		))
}

// emptyTimes reports whether an empty text stands for no time in a column that keeps times as digits,
// or in one that keeps them in a layout.
func (w *writer) emptyTimes(digits bool) bool {
	return slices.ContainsFunc(w.Fields, func(f *plan.Field) bool { return f.Empty && f.Width > 0 == digits })
}

// parseDigitsFunc emits
//
//	func parseDigits(value any, unit time.Duration) (time.Time, error) {
//		text, ok := value.(string)
//		if raw, is := value.([]byte); is {
//			text, ok = string(raw), true
//		}
//		if !ok {
//			return time.Time{}, fmt.Errorf("%v is no text", value)
//		}
//		if strings.TrimRight(text, " ") == "" { // where a column has no time so
//			return time.Time{}, nil
//		}
//		n, err := strconv.ParseInt(strings.TrimRight(text, " "), 10, 64)
//		if err != nil {
//			return time.Time{}, err
//		}
//		second := int64(time.Second / unit)
//		return time.Unix(n/second, n%second*int64(unit)).UTC(), nil
//	}
func (w *writer) parseDigitsFunc(f *code.File) {
	none := code.Qual("time", "Time").Values()
	doc, digits := "parseDigits reads a time that is kept as a text of digits, the number of units since 1970.", code.Qual("strings", "TrimRight").Call(code.Id("text"), code.Lit(" "))
	var empty []*code.Statement
	if w.emptyTimes(true) {
		doc += " An empty text is the zero time."
		empty = append(empty, code.If(digits.Clone().Op("==").Lit("")).Block(code.Return(none.Clone(), code.Nil())))
	}
	decl(f, []string{doc},
		code.Func().Id("parseDigits").Params(code.Id("value").Any(), code.Id("unit").Qual("time", "Duration")).
			Params(code.Qual("time", "Time"), code.Error()).Block(slices.Concat([]*code.Statement{
			code.List(code.Id("text"), code.Id("ok")).Op(":=").Id("value").Assert(code.String()),
			code.If(code.List(code.Id("raw"), code.Id("is")).Op(":=").Id("value").Assert(code.Index().Byte()), code.Id("is")).Block(
				code.List(code.Id("text"), code.Id("ok")).Op("=").List(code.String().Call(code.Id("raw")), code.True())),
			code.If(code.Op("!").Id("ok")).Block(
				code.Return(none.Clone(), code.Qual("fmt", "Errorf").Call(code.Lit("%v is no text"), code.Id("value")))),
		}, empty, []*code.Statement{
			code.List(code.Id("n"), code.Err()).Op(":=").Qual("strconv", "ParseInt").Call(digits, code.Lit(10), code.Lit(64)),
			ifErr(none.Clone()),
			code.Id("second").Op(":=").Int64().Call(code.Qual("time", "Second").Op("/").Id("unit")),
			code.Return(code.Qual("time", "Unix").Call(code.Id("n").Op("/").Id("second"),
				code.Id("n").Op("%").Id("second").Op("*").Int64().Call(code.Id("unit"))).Dot("UTC").Call(), code.Nil()),
		})...))
}

// parseUnitsFunc emits
//
//	func parseUnits(text string, unit time.Duration) (time.Time, error) {
//		n, ok := new(big.Rat).SetString(text)
//		if !ok {
//			return time.Time{}, fmt.Errorf("%q is no number", text)
//		}
//		n.Mul(n, big.NewRat(int64(unit), 1))
//		second, rest := new(big.Int).DivMod(new(big.Int).Div(n.Num(), n.Denom()), big.NewInt(int64(time.Second)), new(big.Int))
//		if !second.IsInt64() {
//			return time.Time{}, fmt.Errorf("%s is no time", text)
//		}
//		return time.Unix(second.Int64(), rest.Int64()).UTC(), nil
//	}
func (w *writer) parseUnitsFunc(f *code.File) {
	none := code.Qual("time", "Time").Values()
	fresh := func(name string) *code.Statement { return code.Id("new").Call(code.Qual("math/big", name)) }
	nano := fresh("Int").Dot("Div").Call(code.Id("n").Dot("Num").Call(), code.Id("n").Dot("Denom").Call())
	decl(f, []string{"parseUnits reads a time that is kept as a number, with a fraction or without, of units since 1970."},
		code.Func().Id("parseUnits").Params(code.Id("text").String(), code.Id("unit").Qual("time", "Duration")).
			Params(code.Qual("time", "Time"), code.Error()).Block(
			code.List(code.Id("n"), code.Id("ok")).Op(":=").Add(fresh("Rat")).Dot("SetString").Call(code.Id("text")),
			code.If(code.Op("!").Id("ok")).Block(
				code.Return(none.Clone(), code.Qual("fmt", "Errorf").Call(code.Lit("%q is no number"), code.Id("text")))),
			code.Id("n").Dot("Mul").Call(code.Id("n"), code.Qual("math/big", "NewRat").Call(code.Int64().Call(code.Id("unit")), code.Lit(1))),
			code.List(code.Id("second"), code.Id("rest")).Op(":=").Add(fresh("Int")).Dot("DivMod").Call(
				nano, code.Qual("math/big", "NewInt").Call(code.Int64().Call(code.Qual("time", "Second"))), fresh("Int")),
			code.If(code.Op("!").Id("second").Dot("IsInt64").Call()).Block(
				code.Return(none, code.Qual("fmt", "Errorf").Call(code.Lit("%s is no time"), code.Id("text")))),
			code.Return(code.Qual("time", "Unix").Call(code.Id("second").Dot("Int64").Call(), code.Id("rest").Dot("Int64").Call()).Dot("UTC").Call(), code.Nil()),
		))
}

// inUnitsFunc emits
//
//	func inUnits(t time.Time, unit time.Duration) string {
//		n := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(int64(time.Second)))
//		n.Add(n, big.NewInt(int64(t.Nanosecond())))
//		text := new(big.Rat).SetFrac(n, big.NewInt(int64(unit))).FloatString(9)
//		return strings.TrimRight(strings.TrimRight(text, "0"), ".")
//	}
func (w *writer) inUnitsFunc(f *code.File) {
	fresh := func(name string) *code.Statement { return code.Id("new").Call(code.Qual("math/big", name)) }
	whole := func(value *code.Statement) *code.Statement {
		return code.Qual("math/big", "NewInt").Call(value)
	}
	trimmed := func(text *code.Statement, end string) *code.Statement {
		return code.Qual("strings", "TrimRight").Call(text, code.Lit(end))
	}
	decl(f, []string{"inUnits writes a time as the number, with its fraction, of units since 1970."},
		code.Func().Id("inUnits").Params(code.Id("t").Qual("time", "Time"), code.Id("unit").Qual("time", "Duration")).String().Block(
			code.Id("n").Op(":=").Add(fresh("Int")).Dot("Mul").Call(whole(code.Id("t").Dot("Unix").Call()), whole(code.Int64().Call(code.Qual("time", "Second")))),
			code.Id("n").Dot("Add").Call(code.Id("n"), whole(code.Int64().Call(code.Id("t").Dot("Nanosecond").Call()))),
			code.Id("text").Op(":=").Add(fresh("Rat")).Dot("SetFrac").Call(code.Id("n"), whole(code.Int64().Call(code.Id("unit")))).Dot("FloatString").Call(code.Lit(9)),
			code.Return(trimmed(trimmed(code.Id("text"), "0"), ".")),
		))
}

// inDigitsFunc emits
//
//	func inDigits(n int64, width int) string {
//		text := fmt.Sprintf("%0*d", width, max(n, 0))
//		if len(text) > width {
//			return strings.Repeat("9", width)
//		}
//		return text
//	}
func (w *writer) inDigitsFunc(f *code.File) {
	decl(f, []string{"inDigits writes a number as text that sorts like it; one that does not fit becomes the nearest that does."},
		code.Func().Id("inDigits").Params(code.Id("n").Int64(), code.Id("width").Int()).String().Block(
			code.Id("text").Op(":=").Qual("fmt", "Sprintf").Call(code.Lit("%0*d"), code.Id("width"), code.Id("max").Call(code.Id("n"), code.Lit(0))),
			code.If(code.Len(code.Id("text")).Op(">").Id("width")).Block(
				code.Return(code.Qual("strings", "Repeat").Call(code.Lit("9"), code.Id("width")))),
			code.Return(code.Id("text")),
		))
}

// unixNanoFunc emits
//
//	func unixNano(t time.Time) int64 {
//		switch least, most := time.Unix(0, math.MinInt64), time.Unix(0, math.MaxInt64); {
//		case t.Before(least):
//			return math.MinInt64
//		case t.After(most):
//			return math.MaxInt64
//		}
//		return t.UnixNano()
//	}
func (w *writer) unixNanoFunc(f *code.File) {
	end := func(name string) *code.Statement { return code.Qual("math", name) }
	at := func(name string) *code.Statement {
		return code.Qual("time", "Unix").Call(code.Lit(0), end(name))
	}
	decl(f, []string{"unixNano is the nanoseconds since 1970; of a time before 1678 or after 2262, which so many bits cannot tell, the nearest that they can."},
		code.Func().Id("unixNano").Params(code.Id("t").Qual("time", "Time")).Int64().Block(
			code.Switch(code.List(code.Id("least"), code.Id("most")).Op(":=").List(at("MinInt64"), at("MaxInt64")), code.Empty()).Block(
				code.Case(code.Id("t").Dot("Before").Call(code.Id("least"))).Block(code.Return(end("MinInt64"))),
				code.Case(code.Id("t").Dot("After").Call(code.Id("most"))).Block(code.Return(end("MaxInt64"))),
			),
			code.Return(code.Id("t").Dot("UnixNano").Call()),
		))
}

// wallClockFunc emits
//
//	func wallClock(t time.Time, zone *time.Location) time.Time {
//		return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
//	}
func (w *writer) wallClockFunc(f *code.File) {
	decl(f, []string{"wallClock is the time whose clock in zone reads as t, which came without one."},
		code.Func().Id("wallClock").Params(code.Id("t").Qual("time", "Time"), code.Id("zone").Op("*").Qual("time", "Location")).Qual("time", "Time").Block(
			code.Return(code.Qual("time", "Date").CallFunc(func(g *code.Group) {
				for _, part := range []string{"Year", "Month", "Day", "Hour", "Minute", "Second", "Nanosecond"} {
					g.Id("t").Dot(part).Call()
				}
				g.Id("zone")
			}))))
}

// localClockFunc emits
//
//	func localClock(t time.Time) time.Time {
//		if t.IsZero() {
//			return t
//		}
//		clock := func(zone *time.Location) time.Time {
//			return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
//		}
//		at := clock(time.Local)
//		if at.Hour() == t.Hour() && at.Minute() == t.Minute() {
//			return at
//		}
//		_, before := at.AddDate(0, 0, -1).Zone()
//		return clock(time.FixedZone("", before))
//	}
func (w *writer) localClockFunc(f *code.File) {
	part := func(name string) *code.Statement { return code.Id("t").Dot(name).Call() }
	same := func(name string) *code.Statement {
		return code.Id("at").Dot(name).Call().Op("==").Add(part(name))
	}
	decl(f, []string{"localClock is the time whose clock in the local zone reads as t, which came without one. In the hour that is left out when clocks are set forward it is a time by the clock of the day before, so that it still reads as t."},
		code.Func().Id("localClock").Params(code.Id("t").Qual("time", "Time")).Qual("time", "Time").Block(
			code.If(code.Id("t").Dot("IsZero").Call()).Block(code.Return(code.Id("t"))),
			code.Id("clock").Op(":=").Func().Params(code.Id("zone").Op("*").Qual("time", "Location")).Qual("time", "Time").Block(
				code.Return(code.Qual("time", "Date").CallFunc(func(g *code.Group) {
					for _, name := range []string{"Year", "Month", "Day", "Hour", "Minute", "Second", "Nanosecond"} {
						g.Add(part(name))
					}
					g.Id("zone")
				}))),
			code.Id("at").Op(":=").Id("clock").Call(code.Qual("time", "Local")),
			code.If(same("Hour").Op("&&").Add(same("Minute"))).Block(code.Return(code.Id("at"))),
			code.List(code.Id("_"), code.Id("before")).Op(":=").Id("at").Dot("AddDate").Call(code.Lit(0), code.Lit(0), code.Lit(-1)).Dot("Zone").Call(),
			code.Return(code.Id("clock").Call(code.Qual("time", "FixedZone").Call(code.Lit(""), code.Id("before")))),
		))
}
