package emit

// This file writes how a claim adds a row of another table for all its jobs, whose key is
// their token.

import (
	"slices"

	"github.com/qgen-dev/qgen/internal/code"
	"github.com/qgen-dev/qgen/internal/plan"
)

// addBatch emits, where there is such a row,
//
//	token, err := q.newToken(ctx, db)
//	if err != nil {
//		return err
//	}
func (w *writer) addBatch() []*code.Statement {
	if w.Claim.BatchRow == nil {
		return nil
	}
	return []*code.Statement{
		code.List(code.Id("token"), code.Err()).Op(":=").Add(w.queue()).Dot("newToken").Call(append([]*code.Statement{code.Id("ctx"), code.Id("db")}, passed(w.rowGiven())...)...),
		ifErr(),
	}
}

// rowGiven are the arguments of Claim that the row takes.
func (w *writer) rowGiven() []variable {
	var params []*plan.Param
	for _, a := range w.Claim.BatchRow.Statement.Args {
		if a.Kind == plan.ArgGiven && !slices.Contains(params, a.Param) {
			params = append(params, a.Param)
		}
	}
	return w.given(params)
}

// undoBatch emits what an attempt does that has taken nothing:
//
//	_, err = exec(ctx, db, claimBatchUndoSQL, token)
func (w *writer) undoBatch() *code.Statement {
	s := w.Claim.BatchRow.Undo
	_, args := w.arguments(s, source{}, "")
	return code.List(code.Id("_"), code.Err()).Op("=").Add(execCall(w.bound(s, args)...))
}

// unlessUndone emits the end of an attempt whose call reads the jobs that it takes. Where
// others were quicker and there is a row for them, it goes away again:
//
//	jobs, err = query(ctx, db, scanJob, claimSQL, …)
//	if err == nil && len(jobs) == 0 {
//		_, err = exec(ctx, db, claimBatchUndoSQL, token)
//	}
//	return err
func (w *writer) unlessUndone(into string, call *code.Statement) []*code.Statement {
	if w.Claim.BatchRow == nil {
		return w.jobsInto(into, call)
	}
	list := []*code.Statement{
		code.List(code.Id(into), code.Err()).Op("=").Add(call),
		code.If(code.Err().Op("==").Nil().Op("&&").Add(empty(into))).Block(w.undoBatch()),
	}
	if w.Payload == nil || w.payloadBehind() {
		return append(list, code.Return(code.Err()))
	}
	return append(list, ifErr(), readInto(into, w.payloadCall(w.queue(), into)))
}

// newTokenMethod emits, where the driver tells the key,
//
//	func (q *Queue) newToken(ctx context.Context, db DBTX) (int64, error) {
//		return insert(ctx, db, claimBatchSQL)
//	}
//
// and else
//
//	func (q *Queue) newToken(ctx context.Context, db DBTX) (token int64, err error) {
//		added, err := query(ctx, db, scanToken, claimBatchSQL)
//		if err == nil && len(added) != 1 {
//			err = errors.New("no row was added to claims")
//		}
//		if err != nil {
//			return token, err
//		}
//		return added[0], nil
//	}
func (w *writer) newTokenMethod(f *code.File) {
	b := w.Claim.BatchRow
	_, args := w.arguments(b.Statement, source{}, "")
	text := w.bound(b.Statement, args)
	doc := []string{"newToken adds a row to " + b.Table + " and returns its key, the token of the jobs that are claimed with it."}
	results := []*code.Statement{w.tokenType(), code.Error()}
	body := []*code.Statement{code.Return(insertCall(text))}
	if b.Statement.Rows != nil {
		results = []*code.Statement{code.Id("token").Add(w.tokenType()), code.Err().Error()}
		body = []*code.Statement{
			code.List(code.Id("added"), code.Err()).Op(":=").Add(queryCall("scanToken", text...)),
			code.If(code.Err().Op("==").Nil().Op("&&").Len(code.Id("added")).Op("!=").Lit(1)).Block(
				code.Err().Op("=").Qual("errors", "New").Call(code.Lit("no row was added to " + b.Table)),
			),
			ifErr(code.Id("token")),
			code.Return(code.Id("added").Index(code.Lit(0)), code.Nil()),
		}
	}
	decl(f, doc, code.Func().Add(w.receiver()).Id("newToken").Params(append([]*code.Statement{ctxParam(), code.Id("db").Id("DBTX")}, declared(w.rowGiven())...)...).Params(results...).Block(body...))
}

// scanTokenFunc emits
//
//	func scanToken(r row) (token int64, err error) {
//		err = r.Scan(&token)
//		return token, err
//	}
func (w *writer) scanTokenFunc(f *code.File) {
	decl(f, []string{"scanToken reads the key of a row that was added for a claim."},
		code.Func().Id("scanToken").Params(code.Id("r").Id("row")).Params(code.Id("token").Add(w.tokenType()), code.Err().Error()).Block(
			code.Err().Op("=").Id("r").Dot("Scan").Call(code.Op("&").Id("token")),
			code.Return(code.Id("token"), code.Err()),
		))
}
