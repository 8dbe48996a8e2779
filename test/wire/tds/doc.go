// Package tds is a SQL Server of which only the wire exists. It listens on
// 127.0.0.1, speaks TDS as github.com/microsoft/go-mssqldb expects it, and answers
// what a test tells it to, so that emitted packages run against the real driver
// where no SQL Server can be had. What SQL Server makes of a statement it does not
// know; a test says that.
//
//	server := tds.Start(t)
//	db, err := sql.Open("sqlserver", server.DSN())
//	...
//	server.Expect(
//		tds.Begin(tds.ReadCommitted),
//		tds.Query(claim, int64(10), tds.Any).
//			Rows(tds.Columns("id bigint", "payload nvarchar(max)"), tds.Row{1, "a"}, tds.Row{2, nil}).
//			Error(1205, 51, 13, "Transaction was deadlocked"),
//	)
//
// A test either writes a script with [Server.Expect], which is the order in which
// requests have to come, or gives a function to [Server.Handle], which answers by
// a model of the table. What is not expected fails the test, and so does what is
// expected and has not come when the test ends.
//
// # What it speaks of MS-TDS
//
// Version 7.4, without encryption (the DSN says encrypt=disable), without multiple
// active result sets.
//
//   - From the client: PRELOGIN (2.2.6.5), LOGIN7 (2.2.6.4) with a password, SQLBatch
//     (2.2.6.7), RPC (2.2.6.6) of sp_executesql, transaction manager requests (2.2.6.9)
//     to begin, commit and roll back, attention (2.2.1.7), ALL_HEADERS (2.2.5.3) with
//     the transaction descriptor, and the bits of a packet that reset the session.
//   - From the server: LOGINACK, ENVCHANGE (database, language, packet size, collation,
//     begin, commit and rollback of a transaction, reset), INFO, ERROR, COLMETADATA, ROW,
//     NBCROW, DONE, DONEINPROC, DONEPROC and RETURNSTATUS (2.2.7).
//   - Types (2.2.5.4): tinyint, smallint, int, bigint, bit, real, float, decimal, numeric,
//     money, smallmoney, uniqueidentifier, date, time, datetime, smalldatetime, datetime2,
//     datetimeoffset, char, varchar, nchar, nvarchar, binary and varbinary, the variable ones
//     with max too. Parameters are read in those of them that the driver sends: decimal,
//     money and smallmoney are not among them.
//   - Not spoken: output parameters, table-valued parameters, calls of other procedures,
//     sp_prepare and its family, which the driver does not use, bulk copy, cursors, MARS,
//     federated and integrated logins, column encryption.
//
// A connection that says something else, or says it wrong, fails the test with the
// place and is closed.
//
// # What it knows of SQL Server
//
// A connection has a transaction or has none, and a request that names the wrong
// one fails the test. The errors 1205 and 3960 end the transaction, and any error
// can be made to with [Response.Abort], as XACT_ABORT does. An error of class 20 or
// above ends the connection, and so does one that refuses a login. A reset ends
// the transaction that is open.
package tds
