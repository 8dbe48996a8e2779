// Package oracle is an Oracle server of which only the wire exists. It listens on
// 127.0.0.1, speaks TNS and TTC as github.com/sijms/go-ora/v2 expects it, and
// answers what a test tells it to, so that emitted packages run against the real
// driver where no Oracle can be had. What Oracle makes of a statement it does not
// know; a test says that.
//
//	server := oracle.Start(t)
//	db, err := sql.Open("oracle", server.DSN())
//	...
//	server.Expect(
//		oracle.Exec(claim, int64(10), oracle.Output).
//			RefCursor("jobs", oracle.Columns("id NUMBER(19)", "payload CLOB"), oracle.Row{1, "a"}, oracle.Row{2, nil}),
//		oracle.Commit().Error(60, "deadlock detected while waiting for resource"),
//	)
//
// A test either writes a script with [Server.Expect], which is the order in which
// requests have to come, or gives a function to [Server.Handle], which answers by
// a model of the table. What is not expected fails the test, and so does what is
// expected and has not come when the test ends.
//
// # What it speaks
//
// It says that it is Oracle 11.2: version 314 of TNS, with lengths of 16 bits, and
// field version 6 of TTC, the oldest that servers in use have. Nothing is
// negotiated but UTF-8 and a time zone; texts and bytes of more than 4000 bytes are
// sent as LONG.
//
//   - Connect, accept and refuse; the login by O5LOGON with the verifier of 11g, in
//     which the password is checked.
//   - Statements: parsing, binding, execution, execution again, definition of columns,
//     fetching, closing of cursors; array DML; COMMIT, ROLLBACK, ping, logoff; the bit
//     of an execution that commits.
//   - Binds: NUMBER, VARCHAR2, RAW, LONG of both kinds, DATE, TIMESTAMP with and without
//     a zone, index-by tables of these, each in, out and both; cursors out; LOBs that
//     are NULL. The RETURNING clause of DML, with the one row that the driver allows.
//   - Columns: NUMBER, VARCHAR2, CHAR, RAW, DATE, TIMESTAMP, TIMESTAMP WITH TIME ZONE and
//     WITH LOCAL TIME ZONE, CLOB and BLOB, which clients fetch inline as LONG.
//   - Errors as servers tell them, with markers that break off what was said, and the
//     marker with which a client cancels.
//   - Not spoken: temporary LOBs and LOBs by locator, object types, BOOLEAN, ROWID,
//     national character sets, several errors of array DML, encryption, redirection.
//
// A connection that says something else, or says it wrong, fails the test with the
// place and is closed.
//
// # What it knows of Oracle
//
// Placeholders: which there are, in which order they are bound, and that there must
// be as many binds. That SQL has no delimiter at its end and PL/SQL has one. That a
// value must fit the room that the client has for it (ORA-06502, ORA-06513). The
// first statement of a session may be SELECT SYSTIMESTAMP FROM DUAL, with which the
// driver learns the zone of the server; it answers that itself.
package oracle
