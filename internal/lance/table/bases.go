package table

import (
	"sync"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
	"github.com/seaweedfs/seaweed-lance/internal/objects"
)

// BaseOpener opens another root in which files of a table lie.
type BaseOpener func(*pb.BasePath) (objects.Store, error)

// WithBases is the same version with a way to open the other roots that its manifest names, each of which is opened
// once.
func (t *Table) WithBases(open BaseOpener) *Table {
	x := *t
	x.bases = open
	if open == nil {
		return &x
	}
	var mu sync.Mutex
	opened := make(map[uint32]objects.Store)
	x.bases = func(p *pb.BasePath) (objects.Store, error) {
		mu.Lock()
		defer mu.Unlock()
		if s := opened[p.GetId()]; s != nil {
			return s, nil
		}
		s, err := open(p)
		if err == nil {
			opened[p.GetId()] = s
		}
		return s, err
	}
	return &x
}

// Bases is what WithBases was given; nil when no other root can be reached.
func (t *Table) Bases() BaseOpener { return t.bases }
