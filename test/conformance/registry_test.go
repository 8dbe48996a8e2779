package conformance

// This file lists the packages in gen/; a test compares it with qgen.yaml.

import (
	"github.com/qgen-dev/qgen/test/conformance/gen/advisorypg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/advisorypg94sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/batchkeypg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/batchkeysqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/booleanpg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/booleansqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositepg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositepg13pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/deletepg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/deletesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/duepg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/duesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/enumpg13sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/enumsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/guardedpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/guardedpg94sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/guardedsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdpg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdstatuspg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/integerpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/integersqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/leasepg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/leasesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/nulltimepg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/nulltimesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionedpg13pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionpg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionrunpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionrunsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/poppg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/poppg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/popsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/resultpg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/resultsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/rowidpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/rowidpg18pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/rowidsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/severalpg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/severalsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlepg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlepg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlepg13pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlepg15sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlepg18pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlepg94sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokensqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenstatepg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenstatesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/topicpg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/topicsqlite"
)

var registry = []emitted{
	{name: "singlepg94sql", new: singlepg94sql.New, worker: singlepg94sql.WithWorker, lost: singlepg94sql.ErrLost, retryable: singlepg94sql.IsRetryable},
	{name: "singlepg10sql", new: singlepg10sql.New, worker: singlepg10sql.WithWorker, lost: singlepg10sql.ErrLost, retryable: singlepg10sql.IsRetryable},
	{name: "singlepg10pgx", new: singlepg10pgx.New, worker: singlepg10pgx.WithWorker, lost: singlepg10pgx.ErrLost, retryable: singlepg10pgx.IsRetryable},
	{name: "singlepg13pgx", new: singlepg13pgx.New, worker: singlepg13pgx.WithWorker, lost: singlepg13pgx.ErrLost, retryable: singlepg13pgx.IsRetryable},
	{name: "singlepg15sql", new: singlepg15sql.New, worker: singlepg15sql.WithWorker, lost: singlepg15sql.ErrLost, retryable: singlepg15sql.IsRetryable},
	{name: "singlepg18pgx", new: singlepg18pgx.New, worker: singlepg18pgx.WithWorker, lost: singlepg18pgx.ErrLost, retryable: singlepg18pgx.IsRetryable},
	{name: "singlesqlite", new: singlesqlite.New, worker: singlesqlite.WithWorker, lost: singlesqlite.ErrLost, retryable: singlesqlite.IsRetryable},
	{name: "tokenpg10pgx", new: tokenpg10pgx.New, lost: tokenpg10pgx.ErrLost, retryable: tokenpg10pgx.IsRetryable},
	{name: "tokensqlite", new: tokensqlite.New, lost: tokensqlite.ErrLost, retryable: tokensqlite.IsRetryable},
	{name: "guardedpg94sql", new: guardedpg94sql.New, worker: guardedpg94sql.WithWorker, lost: guardedpg94sql.ErrLost, retryable: guardedpg94sql.IsRetryable},
	{name: "guardedpg10pgx", new: guardedpg10pgx.New, worker: guardedpg10pgx.WithWorker, lost: guardedpg10pgx.ErrLost, retryable: guardedpg10pgx.IsRetryable},
	{name: "guardedsqlite", new: guardedsqlite.New, worker: guardedsqlite.WithWorker, lost: guardedsqlite.ErrLost, retryable: guardedsqlite.IsRetryable},
	{name: "advisorypg94sql", new: advisorypg94sql.New, worker: advisorypg94sql.WithWorker, lost: advisorypg94sql.ErrLost, retryable: advisorypg94sql.IsRetryable},
	{name: "advisorypg10pgx", new: advisorypg10pgx.New, worker: advisorypg10pgx.WithWorker, lost: advisorypg10pgx.ErrLost, retryable: advisorypg10pgx.IsRetryable},
	{name: "compositepg10sql", new: compositepg10sql.New, lost: compositepg10sql.ErrLost, retryable: compositepg10sql.IsRetryable},
	{name: "compositepg13pgx", new: compositepg13pgx.New, lost: compositepg13pgx.ErrLost, retryable: compositepg13pgx.IsRetryable},
	{name: "compositesqlite", new: compositesqlite.New, lost: compositesqlite.ErrLost, retryable: compositesqlite.IsRetryable},
	{name: "rowidpg10pgx", new: rowidpg10pgx.New, lost: rowidpg10pgx.ErrLost, retryable: rowidpg10pgx.IsRetryable},
	{name: "rowidpg18pgx", new: rowidpg18pgx.New, lost: rowidpg18pgx.ErrLost, retryable: rowidpg18pgx.IsRetryable},
	{name: "rowidsqlite", new: rowidsqlite.New, lost: rowidsqlite.ErrLost, retryable: rowidsqlite.IsRetryable},
	{name: "booleanpg10sql", new: booleanpg10sql.New, lost: booleanpg10sql.ErrLost, retryable: booleanpg10sql.IsRetryable},
	{name: "booleansqlite", new: booleansqlite.New, lost: booleansqlite.ErrLost, retryable: booleansqlite.IsRetryable},
	{name: "integerpg10pgx", new: integerpg10pgx.New, worker: integerpg10pgx.WithWorker, lost: integerpg10pgx.ErrLost, retryable: integerpg10pgx.IsRetryable},
	{name: "integersqlite", new: integersqlite.New, worker: integersqlite.WithWorker, lost: integersqlite.ErrLost, retryable: integersqlite.IsRetryable},
	{name: "enumpg13sql", new: enumpg13sql.New, lost: enumpg13sql.ErrLost, retryable: enumpg13sql.IsRetryable},
	{name: "enumsqlite", new: enumsqlite.New, lost: enumsqlite.ErrLost, retryable: enumsqlite.IsRetryable},
	{name: "nulltimepg10sql", new: nulltimepg10sql.New, lost: nulltimepg10sql.ErrLost, retryable: nulltimepg10sql.IsRetryable},
	{name: "nulltimesqlite", new: nulltimesqlite.New, lost: nulltimesqlite.ErrLost, retryable: nulltimesqlite.IsRetryable},
	{name: "tokenstatepg10pgx", new: tokenstatepg10pgx.New, lost: tokenstatepg10pgx.ErrLost, retryable: tokenstatepg10pgx.IsRetryable},
	{name: "tokenstatesqlite", new: tokenstatesqlite.New, lost: tokenstatesqlite.ErrLost, retryable: tokenstatesqlite.IsRetryable},
	{name: "batchkeypg10sql", new: batchkeypg10sql.New, lost: batchkeypg10sql.ErrLost, retryable: batchkeypg10sql.IsRetryable},
	{name: "batchkeysqlite", new: batchkeysqlite.New, lost: batchkeysqlite.ErrLost, retryable: batchkeysqlite.IsRetryable},
	{name: "severalpg10sql", new: severalpg10sql.New, lost: severalpg10sql.ErrLost, retryable: severalpg10sql.IsRetryable},
	{name: "severalsqlite", new: severalsqlite.New, lost: severalsqlite.ErrLost, retryable: severalsqlite.IsRetryable},
	{name: "deletepg10pgx", new: deletepg10pgx.New, lost: deletepg10pgx.ErrLost, retryable: deletepg10pgx.IsRetryable},
	{name: "deletesqlite", new: deletesqlite.New, lost: deletesqlite.ErrLost, retryable: deletesqlite.IsRetryable},
	{name: "topicpg10sql", new: topicpg10sql.New, lost: topicpg10sql.ErrLost, retryable: topicpg10sql.IsRetryable},
	{name: "topicsqlite", new: topicsqlite.New, lost: topicsqlite.ErrLost, retryable: topicsqlite.IsRetryable},
	{name: "duepg10pgx", new: duepg10pgx.New, lost: duepg10pgx.ErrLost, retryable: duepg10pgx.IsRetryable},
	{name: "duesqlite", new: duesqlite.New, lost: duesqlite.ErrLost, retryable: duesqlite.IsRetryable},
	{name: "leasepg10pgx", new: leasepg10pgx.New, lost: leasepg10pgx.ErrLost, retryable: leasepg10pgx.IsRetryable},
	{name: "leasesqlite", new: leasesqlite.New, lost: leasesqlite.ErrLost, retryable: leasesqlite.IsRetryable},
	{name: "resultpg10sql", new: resultpg10sql.New, worker: resultpg10sql.WithWorker, lost: resultpg10sql.ErrLost, retryable: resultpg10sql.IsRetryable},
	{name: "resultsqlite", new: resultsqlite.New, worker: resultsqlite.WithWorker, lost: resultsqlite.ErrLost, retryable: resultsqlite.IsRetryable},
	{name: "partitionedpg13pgx", new: partitionedpg13pgx.New, lost: partitionedpg13pgx.ErrLost, retryable: partitionedpg13pgx.IsRetryable},
	{name: "holdpg10sql", new: holdpg10sql.New, lost: holdpg10sql.ErrLost, retryable: holdpg10sql.IsRetryable},
	{name: "holdpg10pgx", new: holdpg10pgx.New, lost: holdpg10pgx.ErrLost, retryable: holdpg10pgx.IsRetryable},
	{name: "holdstatuspg10pgx", new: holdstatuspg10pgx.New, lost: holdstatuspg10pgx.ErrLost, retryable: holdstatuspg10pgx.IsRetryable},
	{name: "poppg10sql", new: poppg10sql.New, retryable: poppg10sql.IsRetryable},
	{name: "poppg10pgx", new: poppg10pgx.New, retryable: poppg10pgx.IsRetryable},
	{name: "popsqlite", new: popsqlite.New, retryable: popsqlite.IsRetryable},
	{name: "partitionpg10sql", new: partitionpg10sql.New, lost: partitionpg10sql.ErrLost, retryable: partitionpg10sql.IsRetryable},
	{name: "partitionsqlite", new: partitionsqlite.New, lost: partitionsqlite.ErrLost, retryable: partitionsqlite.IsRetryable},
	{name: "partitionrunpg10pgx", new: partitionrunpg10pgx.New, lost: partitionrunpg10pgx.ErrLost, retryable: partitionrunpg10pgx.IsRetryable},
	{name: "partitionrunsqlite", new: partitionrunsqlite.New, lost: partitionrunsqlite.ErrLost, retryable: partitionrunsqlite.IsRetryable},
}
