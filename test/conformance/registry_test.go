package conformance

// This file lists the packages in gen/; a test compares it with qgen.yaml.

import (
	"github.com/qgen-dev/qgen/test/conformance/gen/advisorypg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/advisorypg94sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/auditedms2014"
	"github.com/qgen-dev/qgen/test/conformance/gen/auditedms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/batchkeypg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/batchkeysqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/binarymaria105"
	"github.com/qgen-dev/qgen/test/conformance/gen/binaryms2014"
	"github.com/qgen-dev/qgen/test/conformance/gen/binaryms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/binarymy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/binaryora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/booleanmaria105"
	"github.com/qgen-dev/qgen/test/conformance/gen/booleanms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/booleanmy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/booleanpg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/booleansqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositeblockmaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositecrdb"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositeguardedora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositelockmaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositelockmy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositemaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositems2008"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositems2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositemy56"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositemy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositeora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositepg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositepg13pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositetidb"
	"github.com/qgen-dev/qgen/test/conformance/gen/compositeyuga"
	"github.com/qgen-dev/qgen/test/conformance/gen/deletemaria105"
	"github.com/qgen-dev/qgen/test/conformance/gen/deletems2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/deletemy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/deleteora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/deletepg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/deletesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/duegalera"
	"github.com/qgen-dev/qgen/test/conformance/gen/duegroup"
	"github.com/qgen-dev/qgen/test/conformance/gen/duemaria105"
	"github.com/qgen-dev/qgen/test/conformance/gen/duemaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/duems2008"
	"github.com/qgen-dev/qgen/test/conformance/gen/duems2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/duemy56"
	"github.com/qgen-dev/qgen/test/conformance/gen/duemy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/dueora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/duepg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/duesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/enummaria105"
	"github.com/qgen-dev/qgen/test/conformance/gen/enumms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/enummy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/enumpg13sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/enumsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/groupedmaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/groupedmy56"
	"github.com/qgen-dev/qgen/test/conformance/gen/groupedpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/groupedrowpg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/groupedsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/groupedtwomy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/groupedtwopg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/groupedtwosqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/guardedgroup"
	"github.com/qgen-dev/qgen/test/conformance/gen/guardedmaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/guardedms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/guardedmy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/guardedora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/guardedpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/guardedpg94sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/guardedsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/headoflinemaria105"
	"github.com/qgen-dev/qgen/test/conformance/gen/headoflinemy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/headoflinepg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/headoflinesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdmaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdms2008"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdmy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdpg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdstatusmaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdstatusmy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdstatuspg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/holdyuga"
	"github.com/qgen-dev/qgen/test/conformance/gen/hostilems2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/hostileora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/hostilepg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/hostilepg13sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/hostilesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/integermaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/integermaria108"
	"github.com/qgen-dev/qgen/test/conformance/gen/integerms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/integermy56"
	"github.com/qgen-dev/qgen/test/conformance/gen/integermy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/integerora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/integerpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/integersqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/leasemaria105"
	"github.com/qgen-dev/qgen/test/conformance/gen/leasems2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/leasemy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/leaseora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/leasepg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/leasesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/lockms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/lockora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/lockpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/logalikepg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/logmaria105"
	"github.com/qgen-dev/qgen/test/conformance/gen/logms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/logmy56"
	"github.com/qgen-dev/qgen/test/conformance/gen/logora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/logpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/logpg94sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/logsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/logxidpg13pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/movedmaria105"
	"github.com/qgen-dev/qgen/test/conformance/gen/movedmy56"
	"github.com/qgen-dev/qgen/test/conformance/gen/movedmy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/movedpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/movedrunmaria105"
	"github.com/qgen-dev/qgen/test/conformance/gen/movedrunms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/movedrunmy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/movedrunora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/movedrunpg13pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/movedrunsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/movedsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/nulltimemaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/nulltimems2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/nulltimemy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/nulltimeora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/nulltimepg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/nulltimesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionedpg13pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitiongalera"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitiongroup"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionmaria105"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionmy56"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionpg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionrunmaria105"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionrunms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionrunmy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionrunora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionrunpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionrunsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/partitionsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/payloadguardedpg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/payloadmaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/payloadmy56"
	"github.com/qgen-dev/qgen/test/conformance/gen/payloadmy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/payloadpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/payloadpopmaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/payloadpoppg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/payloadpopsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/payloadsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/popgalera"
	"github.com/qgen-dev/qgen/test/conformance/gen/popgroup"
	"github.com/qgen-dev/qgen/test/conformance/gen/popmaria105"
	"github.com/qgen-dev/qgen/test/conformance/gen/popmaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/popms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/popmy56"
	"github.com/qgen-dev/qgen/test/conformance/gen/popmy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/popora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/poppg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/poppg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/popsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/resultmaria105"
	"github.com/qgen-dev/qgen/test/conformance/gen/resultms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/resultmy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/resultora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/resultpg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/resultsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/rowidora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/rowidpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/rowidpg18pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/rowidsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/severalmaria105"
	"github.com/qgen-dev/qgen/test/conformance/gen/severalms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/severalmy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/severalora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/severalpg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/severalsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/sidetablemaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/sidetablems2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/sidetablemy56"
	"github.com/qgen-dev/qgen/test/conformance/gen/sidetablemy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/sidetableora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/sidetablepg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/sidetablesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlecrdb"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlegalera"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlegroup"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlemaria105"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlemaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlems2008"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlems2014"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlems2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlemy56"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlemy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/singleora112"
	"github.com/qgen-dev/qgen/test/conformance/gen/singleora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlepg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlepg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlepg13pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlepg15sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlepg18pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlepg94sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/singlesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/singletidb"
	"github.com/qgen-dev/qgen/test/conformance/gen/singleyuga"
	"github.com/qgen-dev/qgen/test/conformance/gen/storedms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/templatemaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/templatemy84"
	"github.com/qgen-dev/qgen/test/conformance/gen/templatepg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/templatesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenblockmaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenpg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokensqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenstatemaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenstatems2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenstatemy56"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenstateora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenstatepg10pgx"
	"github.com/qgen-dev/qgen/test/conformance/gen/tokenstatesqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/topicmaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/topicms2014"
	"github.com/qgen-dev/qgen/test/conformance/gen/topicms2019"
	"github.com/qgen-dev/qgen/test/conformance/gen/topicmy56"
	"github.com/qgen-dev/qgen/test/conformance/gen/topicora19"
	"github.com/qgen-dev/qgen/test/conformance/gen/topicpg10sql"
	"github.com/qgen-dev/qgen/test/conformance/gen/topicsqlite"
	"github.com/qgen-dev/qgen/test/conformance/gen/unsignedmaria106"
	"github.com/qgen-dev/qgen/test/conformance/gen/unsignedmy56"
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
	{name: "lockpg10pgx", new: lockpg10pgx.New, worker: lockpg10pgx.WithWorker, lost: lockpg10pgx.ErrLost, retryable: lockpg10pgx.IsRetryable},
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
	{name: "singlemy56", new: singlemy56.New, worker: singlemy56.WithWorker, lost: singlemy56.ErrLost, retryable: singlemy56.IsRetryable},
	{name: "singlemy84", new: singlemy84.New, worker: singlemy84.WithWorker, lost: singlemy84.ErrLost, retryable: singlemy84.IsRetryable},
	{name: "singlemaria105", new: singlemaria105.New, worker: singlemaria105.WithWorker, lost: singlemaria105.ErrLost, retryable: singlemaria105.IsRetryable},
	{name: "singlemaria106", new: singlemaria106.New, worker: singlemaria106.WithWorker, lost: singlemaria106.ErrLost, retryable: singlemaria106.IsRetryable},
	{name: "guardedmy84", new: guardedmy84.New, worker: guardedmy84.WithWorker, lost: guardedmy84.ErrLost, retryable: guardedmy84.IsRetryable},
	{name: "guardedmaria106", new: guardedmaria106.New, worker: guardedmaria106.WithWorker, lost: guardedmaria106.ErrLost, retryable: guardedmaria106.IsRetryable},
	{name: "duemy56", new: duemy56.New, lost: duemy56.ErrLost, retryable: duemy56.IsRetryable},
	{name: "duemy84", new: duemy84.New, lost: duemy84.ErrLost, retryable: duemy84.IsRetryable},
	{name: "duemaria105", new: duemaria105.New, lost: duemaria105.ErrLost, retryable: duemaria105.IsRetryable},
	{name: "duemaria106", new: duemaria106.New, lost: duemaria106.ErrLost, retryable: duemaria106.IsRetryable},
	{name: "compositemy56", new: compositemy56.New, lost: compositemy56.ErrLost, retryable: compositemy56.IsRetryable},
	{name: "compositemy84", new: compositemy84.New, lost: compositemy84.ErrLost, retryable: compositemy84.IsRetryable},
	{name: "compositemaria106", new: compositemaria106.New, lost: compositemaria106.ErrLost, retryable: compositemaria106.IsRetryable},
	{name: "compositelockmy84", new: compositelockmy84.New, lost: compositelockmy84.ErrLost, retryable: compositelockmy84.IsRetryable},
	{name: "compositelockmaria106", new: compositelockmaria106.New, lost: compositelockmaria106.ErrLost, retryable: compositelockmaria106.IsRetryable},
	{name: "booleanmy84", new: booleanmy84.New, lost: booleanmy84.ErrLost, retryable: booleanmy84.IsRetryable},
	{name: "booleanmaria105", new: booleanmaria105.New, lost: booleanmaria105.ErrLost, retryable: booleanmaria105.IsRetryable},
	{name: "integermy56", new: integermy56.New, worker: integermy56.WithWorker, lost: integermy56.ErrLost, retryable: integermy56.IsRetryable},
	{name: "integermy84", new: integermy84.New, worker: integermy84.WithWorker, lost: integermy84.ErrLost, retryable: integermy84.IsRetryable},
	{name: "integermaria106", new: integermaria106.New, worker: integermaria106.WithWorker, lost: integermaria106.ErrLost, retryable: integermaria106.IsRetryable},
	{name: "integermaria108", new: integermaria108.New, worker: integermaria108.WithWorker, lost: integermaria108.ErrLost, retryable: integermaria108.IsRetryable},
	{name: "enummy84", new: enummy84.New, lost: enummy84.ErrLost, retryable: enummy84.IsRetryable},
	{name: "enummaria105", new: enummaria105.New, lost: enummaria105.ErrLost, retryable: enummaria105.IsRetryable},
	{name: "nulltimemy84", new: nulltimemy84.New, lost: nulltimemy84.ErrLost, retryable: nulltimemy84.IsRetryable},
	{name: "nulltimemaria106", new: nulltimemaria106.New, lost: nulltimemaria106.ErrLost, retryable: nulltimemaria106.IsRetryable},
	{name: "tokenstatemy56", new: tokenstatemy56.New, lost: tokenstatemy56.ErrLost, retryable: tokenstatemy56.IsRetryable},
	{name: "tokenstatemaria106", new: tokenstatemaria106.New, lost: tokenstatemaria106.ErrLost, retryable: tokenstatemaria106.IsRetryable},
	{name: "severalmy84", new: severalmy84.New, lost: severalmy84.ErrLost, retryable: severalmy84.IsRetryable},
	{name: "severalmaria105", new: severalmaria105.New, lost: severalmaria105.ErrLost, retryable: severalmaria105.IsRetryable},
	{name: "deletemy84", new: deletemy84.New, lost: deletemy84.ErrLost, retryable: deletemy84.IsRetryable},
	{name: "deletemaria105", new: deletemaria105.New, lost: deletemaria105.ErrLost, retryable: deletemaria105.IsRetryable},
	{name: "topicmy56", new: topicmy56.New, lost: topicmy56.ErrLost, retryable: topicmy56.IsRetryable},
	{name: "topicmaria106", new: topicmaria106.New, lost: topicmaria106.ErrLost, retryable: topicmaria106.IsRetryable},
	{name: "leasemy84", new: leasemy84.New, lost: leasemy84.ErrLost, retryable: leasemy84.IsRetryable},
	{name: "leasemaria105", new: leasemaria105.New, lost: leasemaria105.ErrLost, retryable: leasemaria105.IsRetryable},
	{name: "resultmy84", new: resultmy84.New, worker: resultmy84.WithWorker, lost: resultmy84.ErrLost, retryable: resultmy84.IsRetryable},
	{name: "resultmaria105", new: resultmaria105.New, worker: resultmaria105.WithWorker, lost: resultmaria105.ErrLost, retryable: resultmaria105.IsRetryable},
	{name: "unsignedmy56", new: unsignedmy56.New, lost: unsignedmy56.ErrLost, retryable: unsignedmy56.IsRetryable},
	{name: "unsignedmaria106", new: unsignedmaria106.New, lost: unsignedmaria106.ErrLost, retryable: unsignedmaria106.IsRetryable},
	{name: "binarymy84", new: binarymy84.New, lost: binarymy84.ErrLost, retryable: binarymy84.IsRetryable},
	{name: "binarymaria105", new: binarymaria105.New, lost: binarymaria105.ErrLost, retryable: binarymaria105.IsRetryable},
	{name: "holdmy84", new: holdmy84.New, lost: holdmy84.ErrLost, retryable: holdmy84.IsRetryable},
	{name: "holdmaria106", new: holdmaria106.New, lost: holdmaria106.ErrLost, retryable: holdmaria106.IsRetryable},
	{name: "holdstatusmy84", new: holdstatusmy84.New, lost: holdstatusmy84.ErrLost, retryable: holdstatusmy84.IsRetryable},
	{name: "holdstatusmaria106", new: holdstatusmaria106.New, lost: holdstatusmaria106.ErrLost, retryable: holdstatusmaria106.IsRetryable},
	{name: "popmy56", new: popmy56.New, retryable: popmy56.IsRetryable},
	{name: "popmy84", new: popmy84.New, retryable: popmy84.IsRetryable},
	{name: "popmaria105", new: popmaria105.New, retryable: popmaria105.IsRetryable},
	{name: "popmaria106", new: popmaria106.New, retryable: popmaria106.IsRetryable},
	{name: "partitionmy56", new: partitionmy56.New, lost: partitionmy56.ErrLost, retryable: partitionmy56.IsRetryable},
	{name: "partitionmaria105", new: partitionmaria105.New, lost: partitionmaria105.ErrLost, retryable: partitionmaria105.IsRetryable},
	{name: "partitionrunmy84", new: partitionrunmy84.New, lost: partitionrunmy84.ErrLost, retryable: partitionrunmy84.IsRetryable},
	{name: "partitionrunmaria105", new: partitionrunmaria105.New, lost: partitionrunmaria105.ErrLost, retryable: partitionrunmaria105.IsRetryable},
	{name: "singlegalera", new: singlegalera.New, worker: singlegalera.WithWorker, lost: singlegalera.ErrLost, retryable: singlegalera.IsRetryable},
	{name: "singlegroup", new: singlegroup.New, worker: singlegroup.WithWorker, lost: singlegroup.ErrLost, retryable: singlegroup.IsRetryable},
	{name: "guardedgroup", new: guardedgroup.New, worker: guardedgroup.WithWorker, lost: guardedgroup.ErrLost, retryable: guardedgroup.IsRetryable},
	{name: "duegalera", new: duegalera.New, lost: duegalera.ErrLost, retryable: duegalera.IsRetryable},
	{name: "duegroup", new: duegroup.New, lost: duegroup.ErrLost, retryable: duegroup.IsRetryable},
	{name: "popgalera", new: popgalera.New, retryable: popgalera.IsRetryable},
	{name: "popgroup", new: popgroup.New, retryable: popgroup.IsRetryable},
	{name: "partitiongalera", new: partitiongalera.New, lost: partitiongalera.ErrLost, retryable: partitiongalera.IsRetryable},
	{name: "partitiongroup", new: partitiongroup.New, lost: partitiongroup.ErrLost, retryable: partitiongroup.IsRetryable},
	{name: "hostilepg10pgx", new: hostilepg10pgx.New, worker: hostilepg10pgx.WithWorker, lost: hostilepg10pgx.ErrLost, retryable: hostilepg10pgx.IsRetryable},
	{name: "hostilepg13sql", new: hostilepg13sql.New, worker: hostilepg13sql.WithWorker, lost: hostilepg13sql.ErrLost, retryable: hostilepg13sql.IsRetryable},
	{name: "hostilesqlite", new: hostilesqlite.New, worker: hostilesqlite.WithWorker, lost: hostilesqlite.ErrLost, retryable: hostilesqlite.IsRetryable},
	{name: "compositetidb", new: compositetidb.New, lost: compositetidb.ErrLost, retryable: compositetidb.IsRetryable},
	{name: "singletidb", new: singletidb.New, worker: singletidb.WithWorker, lost: singletidb.ErrLost, retryable: singletidb.IsRetryable},
	{name: "holdyuga", new: holdyuga.New, lost: holdyuga.ErrLost, retryable: holdyuga.IsRetryable},
	{name: "compositeyuga", new: compositeyuga.New, lost: compositeyuga.ErrLost, retryable: compositeyuga.IsRetryable},
	{name: "singleyuga", new: singleyuga.New, worker: singleyuga.WithWorker, lost: singleyuga.ErrLost, retryable: singleyuga.IsRetryable},
	{name: "compositecrdb", new: compositecrdb.New, lost: compositecrdb.ErrLost, retryable: compositecrdb.IsRetryable},
	{name: "singlecrdb", new: singlecrdb.New, worker: singlecrdb.WithWorker, lost: singlecrdb.ErrLost, retryable: singlecrdb.IsRetryable},
	{name: "singlems2019", new: singlems2019.New, worker: singlems2019.WithWorker, lost: singlems2019.ErrLost, retryable: singlems2019.IsRetryable},
	{name: "singlems2014", new: singlems2014.New, worker: singlems2014.WithWorker, lost: singlems2014.ErrLost, retryable: singlems2014.IsRetryable},
	{name: "singlems2008", new: singlems2008.New, worker: singlems2008.WithWorker, lost: singlems2008.ErrLost, retryable: singlems2008.IsRetryable},
	{name: "guardedms2019", new: guardedms2019.New, worker: guardedms2019.WithWorker, lost: guardedms2019.ErrLost, retryable: guardedms2019.IsRetryable},
	{name: "lockms2019", new: lockms2019.New, worker: lockms2019.WithWorker, lost: lockms2019.ErrLost, retryable: lockms2019.IsRetryable},
	{name: "tokenms2019", new: tokenms2019.New, lost: tokenms2019.ErrLost, retryable: tokenms2019.IsRetryable},
	{name: "compositems2008", new: compositems2008.New, lost: compositems2008.ErrLost, retryable: compositems2008.IsRetryable},
	{name: "compositems2019", new: compositems2019.New, lost: compositems2019.ErrLost, retryable: compositems2019.IsRetryable},
	{name: "binaryms2014", new: binaryms2014.New, lost: binaryms2014.ErrLost, retryable: binaryms2014.IsRetryable},
	{name: "binaryms2019", new: binaryms2019.New, lost: binaryms2019.ErrLost, retryable: binaryms2019.IsRetryable},
	{name: "booleanms2019", new: booleanms2019.New, lost: booleanms2019.ErrLost, retryable: booleanms2019.IsRetryable},
	{name: "deletems2019", new: deletems2019.New, lost: deletems2019.ErrLost, retryable: deletems2019.IsRetryable},
	{name: "duems2008", new: duems2008.New, lost: duems2008.ErrLost, retryable: duems2008.IsRetryable},
	{name: "duems2019", new: duems2019.New, lost: duems2019.ErrLost, retryable: duems2019.IsRetryable},
	{name: "enumms2019", new: enumms2019.New, lost: enumms2019.ErrLost, retryable: enumms2019.IsRetryable},
	{name: "integerms2019", new: integerms2019.New, worker: integerms2019.WithWorker, lost: integerms2019.ErrLost, retryable: integerms2019.IsRetryable},
	{name: "leasems2019", new: leasems2019.New, lost: leasems2019.ErrLost, retryable: leasems2019.IsRetryable},
	{name: "nulltimems2019", new: nulltimems2019.New, lost: nulltimems2019.ErrLost, retryable: nulltimems2019.IsRetryable},
	{name: "tokenstatems2019", new: tokenstatems2019.New, lost: tokenstatems2019.ErrLost, retryable: tokenstatems2019.IsRetryable},
	{name: "severalms2019", new: severalms2019.New, lost: severalms2019.ErrLost, retryable: severalms2019.IsRetryable},
	{name: "topicms2014", new: topicms2014.New, lost: topicms2014.ErrLost, retryable: topicms2014.IsRetryable},
	{name: "topicms2019", new: topicms2019.New, lost: topicms2019.ErrLost, retryable: topicms2019.IsRetryable},
	{name: "resultms2019", new: resultms2019.New, worker: resultms2019.WithWorker, lost: resultms2019.ErrLost, retryable: resultms2019.IsRetryable},
	{name: "holdms2008", new: holdms2008.New, lost: holdms2008.ErrLost, retryable: holdms2008.IsRetryable},
	{name: "holdms2019", new: holdms2019.New, lost: holdms2019.ErrLost, retryable: holdms2019.IsRetryable},
	{name: "popms2019", new: popms2019.New, retryable: popms2019.IsRetryable},
	{name: "partitionms2019", new: partitionms2019.New, lost: partitionms2019.ErrLost, retryable: partitionms2019.IsRetryable},
	{name: "partitionrunms2019", new: partitionrunms2019.New, lost: partitionrunms2019.ErrLost, retryable: partitionrunms2019.IsRetryable},
	{name: "hostilems2019", new: hostilems2019.New, worker: hostilems2019.WithWorker, lost: hostilems2019.ErrLost, retryable: hostilems2019.IsRetryable},
	{name: "auditedms2019", new: auditedms2019.New, lost: auditedms2019.ErrLost, retryable: auditedms2019.IsRetryable},
	{name: "auditedms2014", new: auditedms2014.New, lost: auditedms2014.ErrLost, retryable: auditedms2014.IsRetryable},
	{name: "storedms2019", new: storedms2019.New, worker: storedms2019.WithWorker, lost: storedms2019.ErrLost, retryable: storedms2019.IsRetryable},
	{name: "tokenblockmaria106", new: tokenblockmaria106.New, lost: tokenblockmaria106.ErrLost, retryable: tokenblockmaria106.IsRetryable},
	{name: "compositeblockmaria106", new: compositeblockmaria106.New, lost: compositeblockmaria106.ErrLost, retryable: compositeblockmaria106.IsRetryable},
	{name: "singleora19", new: singleora19.New, worker: singleora19.WithWorker, lost: singleora19.ErrLost, retryable: singleora19.IsRetryable},
	{name: "singleora112", new: singleora112.New, worker: singleora112.WithWorker, lost: singleora112.ErrLost, retryable: singleora112.IsRetryable},
	{name: "guardedora19", new: guardedora19.New, worker: guardedora19.WithWorker, lost: guardedora19.ErrLost, retryable: guardedora19.IsRetryable},
	{name: "lockora19", new: lockora19.New, worker: lockora19.WithWorker, lost: lockora19.ErrLost, retryable: lockora19.IsRetryable},
	{name: "tokenora19", new: tokenora19.New, lost: tokenora19.ErrLost, retryable: tokenora19.IsRetryable},
	{name: "compositeora19", new: compositeora19.New, lost: compositeora19.ErrLost, retryable: compositeora19.IsRetryable},
	{name: "compositeguardedora19", new: compositeguardedora19.New, lost: compositeguardedora19.ErrLost, retryable: compositeguardedora19.IsRetryable},
	{name: "binaryora19", new: binaryora19.New, lost: binaryora19.ErrLost, retryable: binaryora19.IsRetryable},
	{name: "deleteora19", new: deleteora19.New, lost: deleteora19.ErrLost, retryable: deleteora19.IsRetryable},
	{name: "dueora19", new: dueora19.New, lost: dueora19.ErrLost, retryable: dueora19.IsRetryable},
	{name: "integerora19", new: integerora19.New, worker: integerora19.WithWorker, lost: integerora19.ErrLost, retryable: integerora19.IsRetryable},
	{name: "leaseora19", new: leaseora19.New, lost: leaseora19.ErrLost, retryable: leaseora19.IsRetryable},
	{name: "nulltimeora19", new: nulltimeora19.New, lost: nulltimeora19.ErrLost, retryable: nulltimeora19.IsRetryable},
	{name: "tokenstateora19", new: tokenstateora19.New, lost: tokenstateora19.ErrLost, retryable: tokenstateora19.IsRetryable},
	{name: "severalora19", new: severalora19.New, lost: severalora19.ErrLost, retryable: severalora19.IsRetryable},
	{name: "topicora19", new: topicora19.New, lost: topicora19.ErrLost, retryable: topicora19.IsRetryable},
	{name: "resultora19", new: resultora19.New, worker: resultora19.WithWorker, lost: resultora19.ErrLost, retryable: resultora19.IsRetryable},
	{name: "rowidora19", new: rowidora19.New, lost: rowidora19.ErrLost, retryable: rowidora19.IsRetryable},
	{name: "holdora19", new: holdora19.New, lost: holdora19.ErrLost, retryable: holdora19.IsRetryable},
	{name: "popora19", new: popora19.New, retryable: popora19.IsRetryable},
	{name: "partitionora19", new: partitionora19.New, lost: partitionora19.ErrLost, retryable: partitionora19.IsRetryable},
	{name: "partitionrunora19", new: partitionrunora19.New, lost: partitionrunora19.ErrLost, retryable: partitionrunora19.IsRetryable},
	{name: "hostileora19", new: hostileora19.New, worker: hostileora19.WithWorker, lost: hostileora19.ErrLost, retryable: hostileora19.IsRetryable},
	{name: "movedpg10pgx", new: movedpg10pgx.New, lost: movedpg10pgx.ErrLost, retryable: movedpg10pgx.IsRetryable},
	{name: "movedsqlite", new: movedsqlite.New, lost: movedsqlite.ErrLost, retryable: movedsqlite.IsRetryable},
	{name: "movedmy56", new: movedmy56.New, lost: movedmy56.ErrLost, retryable: movedmy56.IsRetryable},
	{name: "movedmy84", new: movedmy84.New, lost: movedmy84.ErrLost, retryable: movedmy84.IsRetryable},
	{name: "movedmaria105", new: movedmaria105.New, lost: movedmaria105.ErrLost, retryable: movedmaria105.IsRetryable},
	{name: "movedrunpg13pgx", new: movedrunpg13pgx.New, worker: movedrunpg13pgx.WithWorker, lost: movedrunpg13pgx.ErrLost, retryable: movedrunpg13pgx.IsRetryable},
	{name: "movedrunsqlite", new: movedrunsqlite.New, worker: movedrunsqlite.WithWorker, lost: movedrunsqlite.ErrLost, retryable: movedrunsqlite.IsRetryable},
	{name: "movedrunmy84", new: movedrunmy84.New, worker: movedrunmy84.WithWorker, lost: movedrunmy84.ErrLost, retryable: movedrunmy84.IsRetryable},
	{name: "movedrunmaria105", new: movedrunmaria105.New, worker: movedrunmaria105.WithWorker, lost: movedrunmaria105.ErrLost, retryable: movedrunmaria105.IsRetryable},
	{name: "movedrunms2019", new: movedrunms2019.New, worker: movedrunms2019.WithWorker, lost: movedrunms2019.ErrLost, retryable: movedrunms2019.IsRetryable},
	{name: "movedrunora19", new: movedrunora19.New, worker: movedrunora19.WithWorker, lost: movedrunora19.ErrLost, retryable: movedrunora19.IsRetryable},
	{name: "payloadpg10pgx", new: payloadpg10pgx.New, lost: payloadpg10pgx.ErrLost, retryable: payloadpg10pgx.IsRetryable},
	{name: "payloadguardedpg10sql", new: payloadguardedpg10sql.New, lost: payloadguardedpg10sql.ErrLost, retryable: payloadguardedpg10sql.IsRetryable},
	{name: "payloadsqlite", new: payloadsqlite.New, lost: payloadsqlite.ErrLost, retryable: payloadsqlite.IsRetryable},
	{name: "payloadmy56", new: payloadmy56.New, lost: payloadmy56.ErrLost, retryable: payloadmy56.IsRetryable},
	{name: "payloadmy84", new: payloadmy84.New, lost: payloadmy84.ErrLost, retryable: payloadmy84.IsRetryable},
	{name: "payloadmaria106", new: payloadmaria106.New, lost: payloadmaria106.ErrLost, retryable: payloadmaria106.IsRetryable},
	{name: "payloadpoppg10pgx", new: payloadpoppg10pgx.New, retryable: payloadpoppg10pgx.IsRetryable},
	{name: "payloadpopsqlite", new: payloadpopsqlite.New, retryable: payloadpopsqlite.IsRetryable},
	{name: "payloadpopmaria106", new: payloadpopmaria106.New, retryable: payloadpopmaria106.IsRetryable},
	{name: "templatepg10pgx", new: templatepg10pgx.New, lost: templatepg10pgx.ErrLost, retryable: templatepg10pgx.IsRetryable},
	{name: "templatesqlite", new: templatesqlite.New, lost: templatesqlite.ErrLost, retryable: templatesqlite.IsRetryable},
	{name: "templatemy84", new: templatemy84.New, lost: templatemy84.ErrLost, retryable: templatemy84.IsRetryable},
	{name: "templatemaria106", new: templatemaria106.New, lost: templatemaria106.ErrLost, retryable: templatemaria106.IsRetryable},
	{name: "groupedpg10pgx", new: groupedpg10pgx.New, lost: groupedpg10pgx.ErrLost, retryable: groupedpg10pgx.IsRetryable},
	{name: "groupedtwopg10sql", new: groupedtwopg10sql.New, lost: groupedtwopg10sql.ErrLost, retryable: groupedtwopg10sql.IsRetryable},
	{name: "groupedrowpg10sql", new: groupedrowpg10sql.New, lost: groupedrowpg10sql.ErrLost, retryable: groupedrowpg10sql.IsRetryable},
	{name: "headoflinepg10sql", new: headoflinepg10sql.New, lost: headoflinepg10sql.ErrLost, retryable: headoflinepg10sql.IsRetryable},
	{name: "groupedsqlite", new: groupedsqlite.New, lost: groupedsqlite.ErrLost, retryable: groupedsqlite.IsRetryable},
	{name: "groupedtwosqlite", new: groupedtwosqlite.New, lost: groupedtwosqlite.ErrLost, retryable: groupedtwosqlite.IsRetryable},
	{name: "headoflinesqlite", new: headoflinesqlite.New, lost: headoflinesqlite.ErrLost, retryable: headoflinesqlite.IsRetryable},
	{name: "groupedmy56", new: groupedmy56.New, lost: groupedmy56.ErrLost, retryable: groupedmy56.IsRetryable},
	{name: "groupedtwomy84", new: groupedtwomy84.New, lost: groupedtwomy84.ErrLost, retryable: groupedtwomy84.IsRetryable},
	{name: "headoflinemy84", new: headoflinemy84.New, lost: headoflinemy84.ErrLost, retryable: headoflinemy84.IsRetryable},
	{name: "headoflinemaria105", new: headoflinemaria105.New, lost: headoflinemaria105.ErrLost, retryable: headoflinemaria105.IsRetryable},
	{name: "groupedmaria106", new: groupedmaria106.New, lost: groupedmaria106.ErrLost, retryable: groupedmaria106.IsRetryable},
	{name: "logpg10pgx", new: logpg10pgx.New, worker: logpg10pgx.WithWorker, lost: logpg10pgx.ErrLost, retryable: logpg10pgx.IsRetryable},
	{name: "logpg94sql", new: logpg94sql.New, worker: logpg94sql.WithWorker, lost: logpg94sql.ErrLost, retryable: logpg94sql.IsRetryable},
	{name: "logxidpg13pgx", new: logxidpg13pgx.New, worker: logxidpg13pgx.WithWorker, lost: logxidpg13pgx.ErrLost, retryable: logxidpg13pgx.IsRetryable},
	{name: "logalikepg10sql", new: logalikepg10sql.New, worker: logalikepg10sql.WithWorker, lost: logalikepg10sql.ErrLost, retryable: logalikepg10sql.IsRetryable},
	{name: "logsqlite", new: logsqlite.New, worker: logsqlite.WithWorker, lost: logsqlite.ErrLost, retryable: logsqlite.IsRetryable},
	{name: "logmy56", new: logmy56.New, worker: logmy56.WithWorker, lost: logmy56.ErrLost, retryable: logmy56.IsRetryable},
	{name: "logmaria105", new: logmaria105.New, worker: logmaria105.WithWorker, lost: logmaria105.ErrLost, retryable: logmaria105.IsRetryable},
	{name: "logms2019", new: logms2019.New, worker: logms2019.WithWorker, lost: logms2019.ErrLost, retryable: logms2019.IsRetryable},
	{name: "logora19", new: logora19.New, worker: logora19.WithWorker, lost: logora19.ErrLost, retryable: logora19.IsRetryable},
	{name: "sidetablepg10pgx", new: sidetablepg10pgx.New, worker: sidetablepg10pgx.WithWorker, lost: sidetablepg10pgx.ErrLost, retryable: sidetablepg10pgx.IsRetryable},
	{name: "sidetablesqlite", new: sidetablesqlite.New, worker: sidetablesqlite.WithWorker, lost: sidetablesqlite.ErrLost, retryable: sidetablesqlite.IsRetryable},
	{name: "sidetablemy56", new: sidetablemy56.New, worker: sidetablemy56.WithWorker, lost: sidetablemy56.ErrLost, retryable: sidetablemy56.IsRetryable},
	{name: "sidetablemy84", new: sidetablemy84.New, worker: sidetablemy84.WithWorker, lost: sidetablemy84.ErrLost, retryable: sidetablemy84.IsRetryable},
	{name: "sidetablemaria106", new: sidetablemaria106.New, worker: sidetablemaria106.WithWorker, lost: sidetablemaria106.ErrLost, retryable: sidetablemaria106.IsRetryable},
	{name: "sidetablems2019", new: sidetablems2019.New, worker: sidetablems2019.WithWorker, lost: sidetablems2019.ErrLost, retryable: sidetablems2019.IsRetryable},
	{name: "sidetableora19", new: sidetableora19.New, worker: sidetableora19.WithWorker, lost: sidetableora19.ErrLost, retryable: sidetableora19.IsRetryable},
}
