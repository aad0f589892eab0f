package table

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

const (
	// defaultAttempts is Lance's own number.
	defaultAttempts = 20
	// A lost attempt waits between firstWait and twice that, doubling up to
	// maxWait: commits take some tens of milliseconds on a cluster.
	firstWait, maxWait = 20 * time.Millisecond, 5 * time.Second
	// A store that fails, other than by refusing, is asked this often.
	storeAttempts = 4
	// settleTime bounds finding out what became of a create, also after a
	// cancel: a worker that is told to stop has 10 s.
	settleTime = 8 * time.Second
)

// Committer adds versions to tables. The zero value is ready to use.
type Committer struct {
	// Attempts bounds how often a commit starts anew on a newer version; 0 means 20.
	Attempts int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Wait waits between attempts; nil waits by the clock, and ends early with
	// the context's error.
	Wait func(context.Context, time.Duration) error
	// Fits, if set, is asked about every version that the commit would go on top
	// of; its error ends the commit.
	Fits func(head *Table) error
}

func (c Committer) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

func (c Committer) wait(ctx context.Context, attempt int) error {
	d := min(firstWait<<min(attempt, 16), maxWait)
	d += time.Duration(rand.Int64N(int64(d)))
	if c.Wait != nil {
		return c.Wait(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Commit makes txn the table's next version. base is the version that txn was prepared on; its
// number and the transaction's uuid are set here unless the uuid is already
// there. See the package comment for what its errors say.
func (c Committer) Commit(ctx context.Context, base *Table, txn *pb.Transaction) (*Table, error) {
	if err := base.Writable(); err != nil {
		return nil, err
	}
	if txn.GetUuid() == "" {
		return nil, errors.New("committing: the transaction has no uuid")
	}
	txn.ReadVersion = base.Version()
	cm := &commit{Committer: c, base: base, head: base, txn: txn, uuid: txn.GetUuid()}
	if err := cm.writeTransaction(ctx); err != nil {
		return nil, err
	}
	attempts := c.Attempts
	if attempts <= 0 {
		attempts = defaultAttempts
	}
	for i := range attempts {
		t, err := cm.attempt(ctx)
		if !errors.Is(err, errLost) {
			return t, err
		}
		if err := c.wait(ctx, i); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("committing to %s: %w (%d)", base.store, ErrContended, attempts)
}

// errLost: another writer took the version number.
var errLost = errors.New("another writer took the version")

// commit is one Commit under way.
type commit struct {
	Committer
	base, head *Table // prepared on; newest that was checked against
	txn        *pb.Transaction
	uuid       string
	txnFile    string
}

// writeTransaction keeps the transaction for writers that race with this one
// and don't find it inside the manifest.
func (c *commit) writeTransaction(ctx context.Context) error {
	if c.base.Manifest().GetWriterFeatureFlags()&FlagNoTransactionFile != 0 {
		return nil
	}
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(c.txn)
	if err != nil {
		return fmt.Errorf("encoding transaction: %w", err)
	}
	name := TransactionName(c.txn.GetReadVersion(), c.uuid)
	err = publish(ctx, c.base.store, name, raw)
	// The uuid is this transaction's alone: what is there is what we sent.
	if err != nil && !errors.Is(err, objects.ErrExists) {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	c.txnFile = path.Base(name)
	return nil
}

// publish is Publish, tried again where a store failed without having done it.
func publish(ctx context.Context, s objects.Store, name string, b []byte) error {
	var err error
	for range storeAttempts {
		err = s.Publish(ctx, name, b)
		if err == nil || errors.Is(err, objects.ErrExists) || errors.Is(err, objects.ErrUnknown) ||
			errors.Is(err, objects.ErrDenied) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// attempt tries once: look at what has come since, make the manifest, create
// it, and see that it is where it belongs.
func (c *commit) attempt(ctx context.Context) (*Table, error) {
	if err := c.catchUp(ctx); err != nil {
		return nil, err
	}
	if c.Fits != nil {
		if err := c.Fits(c.head); err != nil {
			return nil, err
		}
	}
	next, err := apply(c.head, c.txn, c.now())
	if err != nil {
		return nil, err
	}
	next.manifest.TransactionFile = c.txnFile
	b, err := next.encode()
	if err != nil {
		return nil, err
	}
	version := c.head.Version() + 1
	name := c.base.naming.ManifestName(version)
	err = publish(ctx, c.base.store, name, b)
	// From here on the commit may have happened: whoever cancels still wants to
	// know whether it has.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	switch {
	case err == nil:
	case errors.Is(err, objects.ErrExists), errors.Is(err, objects.ErrUnknown):
		mine, lookErr := c.isMine(ctx, version)
		if errors.Is(err, objects.ErrExists) && errors.Is(lookErr, objects.ErrNotFound) {
			lookErr = c.passed(ctx, version)
		}
		if lookErr != nil {
			// Not found proves nothing after a lost answer: another filer may
			// have been asked, and the create may still arrive.
			return nil, fmt.Errorf("creating %s: %w: %v; looking for it: %v", name, objects.ErrUnknown, err, lookErr)
		}
		if !mine {
			return nil, errLost
		}
	default:
		return nil, fmt.Errorf("creating %s: %w", name, err)
	}
	if err := c.settle(ctx, version, next.manifest); err != nil {
		return nil, err
	}
	writeHint(ctx, c.base.store, version)
	return Decode(c.base.store, VersionRef{Version: version, Name: name, Size: int64(len(b)), ModTime: next.manifest.GetTimestamp().AsTime()}, c.base.naming, b)
}

// isMine tells whether the version that is there was made by this commit.
func (c *commit) isMine(ctx context.Context, version uint64) (bool, error) {
	t, err := OpenVersion(ctx, c.base.store, c.base.naming, version)
	if err != nil {
		// A manifest that can't be read is none of ours.
		if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrRefused) {
			return false, nil
		}
		return false, err
	}
	return t.transactionUUID() == c.uuid, nil
}

// catchUp checks the transaction against every version since the last look.
// One of them missing means that a cleanup has been there: what it did can't be
// known, and the caller has to plan anew.
func (c *commit) catchUp(ctx context.Context) error {
	newer, err := versionsAbove(ctx, c.base.store, c.base.naming, c.head.Version()-1)
	if err != nil {
		return err
	}
	// The newest version is never cleaned away: where it is gone and nothing has
	// come after it, or another one has its number, this is another table.
	if len(newer) == 0 {
		return fmt.Errorf("%w: version %d is gone, and nothing has come after it", ErrConflict, c.head.Version())
	}
	if r := newer[0]; r.Version == c.head.Version() {
		if known := c.head.ref.Token; known != "" && r.Token != "" && known != r.Token {
			return fmt.Errorf("%w: version %d is no longer the one that was read", ErrConflict, r.Version)
		}
		newer = newer[1:]
	}
	for _, ref := range newer {
		if ref.Version != c.head.Version()+1 {
			return fmt.Errorf("%w: version %d is gone, though %d is there", ErrConflict, c.head.Version()+1, ref.Version)
		}
		t, err := openRef(ctx, c.base.store, ref, c.base.naming)
		if errors.Is(err, objects.ErrNotFound) {
			return fmt.Errorf("%w: version %d was cleaned away", ErrConflict, ref.Version)
		}
		if err != nil {
			return err
		}
		if err := t.Writable(); err != nil {
			return err
		}
		theirs, err := t.Transaction(ctx)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			return err
		}
		if err := checkConflict(c.txn, theirs, ref.Version); err != nil {
			return err
		}
		c.head = t
	}
	return nil
}

func uuidOfTransactionName(name string) string {
	stem, ok := strings.CutSuffix(name, ".txn")
	if !ok {
		return ""
	}
	_, uuid, _ := strings.Cut(stem, "-")
	return uuid
}
