package manytables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3tables"

	"github.com/seaweedfs/seaweed-lance/internal/weed/cluster"
)

// atOnce is how many tables are made at a time, or files of one through the gateway.
const atOnce = 16

// Lake is a namespace of a table bucket that is filled.
type Lake struct {
	cluster           *cluster.Cluster
	bucket, namespace string
	conn              *grpc.ClientConn
	filer             filer_pb.SeaweedFilerClient
	now               func() time.Time
}

// New returns a namespace of a bucket of a cluster without TLS. The caller closes it.
func New(c *cluster.Cluster, bucket, namespace string) (*Lake, error) {
	conn, err := grpc.NewClient("passthrough:///"+c.FilerGRPC(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	return &Lake{cluster: c, bucket: bucket, namespace: namespace, conn: conn, filer: filer_pb.NewSeaweedFilerClient(conn), now: time.Now}, nil
}

// Close ends the connection; what was made stays.
func (l *Lake) Close() error { return l.conn.Close() }

// Dir is a table's directory on the filer.
func (l *Lake) Dir(name string) string { return path.Join(s3tables.TablesPath, l.path(name)) }

func (l *Lake) path(name string) string { return path.Join(l.bucket, l.namespace, name) }

// Make makes a table as anybody does: declared at the namespace server, and with its files written
// through the S3 gateway.
func (l *Lake) Make(ctx context.Context, name string, k Kind) error {
	if _, err := l.cluster.Lance().CreateTable(ctx, l.bucket, l.namespace, name); err != nil {
		return err
	}
	return l.Put(ctx, name, k.Files)
}

// Put writes files of a table through the S3 gateway, manifests last.
func (l *Lake) Put(ctx context.Context, name string, files map[string][]byte) error {
	manifest := func(name string) bool { return strings.HasPrefix(name, "_versions/") }
	for _, last := range []bool{false, true} {
		g, gctx := errgroup.WithContext(ctx)
		g.SetLimit(atOnce)
		for file, content := range files {
			if manifest(file) == last {
				g.Go(func() error { return l.cluster.S3().Put(gctx, path.Join(l.path(name), file), content) })
			}
		}
		if err := g.Wait(); err != nil {
			return fmt.Errorf("writing %s: %w", l.path(name), err)
		}
	}
	return nil
}

// Fill makes n tables, of the kinds in turn, and returns their names in order.
func (l *Lake) Fill(ctx context.Context, n int, kinds []Kind) ([]string, error) {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("t%05d", i)
	}
	models := make([]*model, min(n, len(kinds)))
	for i := range models {
		if err := l.Make(ctx, names[i], kinds[i]); err != nil {
			return nil, err
		}
		var err error
		if models[i], err = l.model(ctx, names[i]); err != nil {
			return nil, err
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := len(models); i < n; i++ {
		g.Go(func() error { return l.copy(ctx, models[i%len(models)], names[i]) })
	}
	return names, g.Wait()
}

// model is a table as it is on the filer.
type model struct {
	record *filer_pb.Entry
	// below are all entries below the record's, those of directories before what is in them.
	below []at
}

// at is an entry and its directory, relative to the table.
type at struct {
	dir   string
	entry *filer_pb.Entry
}

func (l *Lake) model(ctx context.Context, name string) (*model, error) {
	resp, err := l.filer.LookupDirectoryEntry(ctx, &filer_pb.LookupDirectoryEntryRequest{Directory: path.Dir(l.Dir(name)), Name: name})
	if err != nil {
		return nil, fmt.Errorf("looking at %s: %w", l.Dir(name), err)
	}
	m := &model{record: resp.GetEntry()}
	return m, l.walk(ctx, l.Dir(name), "", &m.below)
}

// walk lists a tree.
func (l *Lake) walk(ctx context.Context, root, dir string, out *[]at) error {
	stream, err := l.filer.ListEntries(ctx, &filer_pb.ListEntriesRequest{Directory: path.Join(root, dir), Limit: 1 << 20})
	if err != nil {
		return fmt.Errorf("listing %s: %w", root, err)
	}
	var found []at
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("listing %s: %w", root, err)
		}
		found = append(found, at{dir, resp.GetEntry()})
	}
	*out = append(*out, found...)
	for _, a := range found {
		if a.entry.GetIsDirectory() {
			if err := l.walk(ctx, root, path.Join(dir, a.entry.GetName()), out); err != nil {
				return err
			}
		}
	}
	return nil
}

// copy makes a table of the entries of another one.
func (l *Lake) copy(ctx context.Context, m *model, name string) error {
	record, err := l.record(m.record, name)
	if err != nil {
		return err
	}
	if err := l.create(ctx, path.Dir(l.Dir(name)), record); err != nil {
		return err
	}
	for _, a := range m.below {
		if err := l.create(ctx, path.Join(l.Dir(name), a.dir), l.fresh(a.entry)); err != nil {
			return err
		}
	}
	return nil
}

// fresh is an entry as another write of the same bytes would have made it.
func (l *Lake) fresh(e *filer_pb.Entry) *filer_pb.Entry {
	e = proto.CloneOf(e)
	now := l.now()
	e.Attributes.Mtime, e.Attributes.Crtime = now.Unix(), now.Unix()
	if len(e.GetExtended()[s3_constants.SeaweedFSWriteId]) > 0 {
		e.Extended[s3_constants.SeaweedFSWriteId] = []byte(uuid.NewString())
	}
	return e
}

// record is a table's record under another name.
func (l *Lake) record(of *filer_pb.Entry, name string) (*filer_pb.Entry, error) {
	e := l.fresh(of)
	var record map[string]any
	if err := json.Unmarshal(e.GetExtended()[s3tables.ExtendedKeyMetadata], &record); err != nil {
		return nil, fmt.Errorf("the record of %s: %w", of.GetName(), err)
	}
	stamp := l.now().UTC().Format(time.RFC3339Nano)
	e.Name = name
	maps.Copy(record, map[string]any{
		"name": name, "metadataLocation": "s3://" + l.path(name), "createdAt": stamp, "modifiedAt": stamp,
		"versionToken": strings.ReplaceAll(uuid.NewString(), "-", ""),
	})
	var err error
	e.Extended[s3tables.ExtendedKeyMetadata], err = json.Marshal(record)
	return e, err
}

func (l *Lake) create(ctx context.Context, dir string, e *filer_pb.Entry) error {
	err := filer_pb.CreateEntry(ctx, l.filer, &filer_pb.CreateEntryRequest{Directory: dir, Entry: e, OExcl: true, SkipCheckParentDirectory: true})
	if err != nil {
		return fmt.Errorf("making %s/%s: %w", dir, e.GetName(), err)
	}
	return nil
}

// Names are the files of a table, in order, and its directories with a slash behind them.
func (l *Lake) Names(ctx context.Context, name string) ([]string, error) {
	m, err := l.model(ctx, name)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, a := range m.below {
		n := path.Join(a.dir, a.entry.GetName())
		if a.entry.GetIsDirectory() {
			n += "/"
		}
		names = append(names, n)
	}
	slices.Sort(names)
	return names, nil
}
