package lanceworker

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/seaweedfs/seaweedfs/weed/stats"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/seaweedfs/seaweed-lance/lease"
	"github.com/seaweedfs/seaweed-lance/session"
)

// Options of the handlers. Each zero value is a sensible choice.
type Options struct {
	// GrpcDialOption secures the connections to filers and masters, as
	// security.LoadClientTLS makes it. Nil means plaintext, which is what a
	// cluster without certificates speaks.
	GrpcDialOption grpc.DialOption

	// Admin is the admin server's address, host:port or host:port.grpcPort, as
	// `weed worker -admin` takes it. Observations of tables and previews of their rows go
	// there, over a stream beside the worker's own and with the id of the worker
	// plus "-lance". Empty means the environment variable SEAWEED_LANCE_ADMIN; without
	// that either, one line in the log says so, and admin's pages show no
	// rows. The stream opens with the first observation and ends with Jobs.Stop.
	Admin string

	// Registerer takes the metrics. Nil means SeaweedFS's own registry,
	// stats.Gather, which -metricsPort serves. Collectors that are there
	// already, from other handlers of this package, are shared.
	Registerer prometheus.Registerer

	// Logger is told what an operator should know. Nil means SeaweedFS's own log.
	Logger *slog.Logger

	// Now is the clock. Nil means time.Now.
	Now func() time.Time

	// MaxExecute is how many jobs of one type the handlers offer to run at
	// once. 0 means 1. A pluginworker.Worker advertises its own limit instead.
	MaxExecute int

	// WorkerID labels build_info. Empty means the content of the file worker.id
	// in WorkingDir, which weed keeps there when it chooses an id itself; where
	// there is none by the time of the first request, the host's name.
	WorkerID string

	// WorkingDir is the worker's working directory. Empty means the current one.
	WorkingDir string

	// Jobs keeps account of the running jobs, for whoever has to end them in
	// order. Nil means that nobody does; their contexts end them all the same.
	Jobs *Jobs

	// Session keeps the tables open that sweeps and previews look at; one that others in the
	// process use, too, saves what it would cost to have two. Nil means one of the handlers' own, with
	// small caches.
	Session *session.Session

	// Leases pin what is read and rewritten. Nil means the handlers' own, which Jobs.Stop closes.
	Leases *lease.Leases

	// admin is asked for the address each time, where Admin is empty.
	admin func() string
}

// adminVariable names admin's address where nothing else does.
const adminVariable = "SEAWEED_LANCE_ADMIN"

// adminAddress is where admin listens, as far as it is known now.
func (o Options) adminAddress() string {
	if o.Admin == "" && o.admin != nil {
		if address := o.admin(); address != "" {
			return address
		}
	}
	return cmp.Or(o.Admin, os.Getenv(adminVariable))
}

// errNegativeExecute is returned for a limit that would let no job run.
var errNegativeExecute = errors.New("MaxExecute is negative")

// withDefaults checks the options and fills in what was left out.
func (o Options) withDefaults() (Options, error) {
	if o.MaxExecute < 0 {
		return Options{}, fmt.Errorf("options of the Lance jobs: %w", errNegativeExecute)
	}
	if o.GrpcDialOption == nil {
		o.GrpcDialOption = grpc.WithTransportCredentials(insecure.NewCredentials())
	}
	if o.Registerer == nil {
		o.Registerer = stats.Gather
	}
	if o.Logger == nil {
		o.Logger = slog.New(glogHandler{})
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxExecute == 0 {
		o.MaxExecute = 1
	}
	if o.Jobs == nil {
		o.Jobs = new(Jobs)
	}
	return o, nil
}
