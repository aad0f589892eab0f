package catalog

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/seaweedfs/seaweedfs/weed/pb/filer_pb"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3_constants"
	"github.com/seaweedfs/seaweedfs/weed/s3api/s3tables"

	"github.com/seaweedfs/seaweed-lance/internal/objects/filerstore/encryption"
)

// bucket is one table bucket whose tables may be Lance tables.
type bucket struct {
	name string
	// refused says why none of its tables may be maintained.
	refused string
	// encrypts tells that what is written into it is to be under SSE-S3.
	encrypts bool
}

func (b bucket) dir() string { return path.Join(s3tables.TablesPath, b.name) }

// readBucket takes a bucket's entry apart; not ok when it can hold no Lance table.
func readBucket(e *filer_pb.Entry) (b bucket, ok bool) {
	if !e.GetIsDirectory() || !s3tables.IsTableBucketEntry(e) || !s3tables.IsValidBucketName(e.GetName()) {
		return b, false
	}
	b.name = e.GetName()
	var record struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(e.GetExtended()[s3tables.ExtendedKeyMetadata], &record); err != nil {
		// It may say that what is written into the bucket is to be encrypted.
		b.refused = fmt.Sprintf("the record of bucket %s can't be read: %v", b.name, err)
		return b, true
	}
	// A bucket from before formats were declared takes tables of any.
	if record.Format != "" && record.Format != s3tables.FormatLance {
		return b, false
	}
	switch scheme, err := encryption.Bucket(e); {
	case err != nil:
		b.refused = err.Error()
	case scheme != "" && scheme != encryption.SSES3:
		b.refused = fmt.Sprintf("bucket %s encrypts with %s", b.name, scheme)
	case len(e.GetExtended()[s3_constants.ExtVersioningKey]) > 0:
		b.refused = fmt.Sprintf("bucket %s keeps S3 versions of its objects", b.name)
	default:
		b.encrypts = scheme == encryption.SSES3
	}
	return b, true
}

// record is one table or view of a bucket.
type record struct {
	table Table
	// lance tells a Lance table from everything else that claims a place.
	lance bool
	// roots are the directories that it keeps files under.
	roots []string
}

// The values that s3tables gives to the mark of a record which an operation
// has not confirmed yet; to every reader it is absent.
const (
	createClaim     = "create"
	renameDestClaim = "rename-dest"
)

// stored is what is read of a table's record.
type stored struct {
	Format            string `json:"format"`
	MetadataLocation  string `json:"metadataLocation"`
	WarehouseLocation string `json:"warehouseLocation"`
}

// readRecord takes the entry of a table or view apart; not ok when it is neither.
func readRecord(bucket, ns string, parts []string, e *filer_pb.Entry) (r record, ok bool) {
	data, ok := e.GetExtended()[s3tables.ExtendedKeyMetadata]
	if !ok || !e.GetIsDirectory() {
		return r, false
	}
	r.table = Table{Bucket: bucket, Namespace: parts, Name: e.GetName()}
	r.table.ID = append(append([]string{bucket}, parts...), e.GetName())
	place := path.Join(s3tables.TablesPath, bucket, ns, e.GetName())
	var at stored
	failure := json.Unmarshal(data, &at)
	r.roots = []string{s3tables.CatalogRecordRoot(bucket, place, at.MetadataLocation, at.WarehouseLocation)}
	if moving, ok := e.GetExtended()[s3tables.ExtendedKeyMoving]; ok {
		var to stored
		// Unreadable, it stands for the record's own path, as in s3tables.
		_ = json.Unmarshal(moving, &to)
		r.roots = append(r.roots, s3tables.CatalogRecordRoot(bucket, place, to.MetadataLocation, to.WarehouseLocation))
		r.table.Refused = "it is being moved"
	}
	if s3tables.EntryType(e.GetExtended()) != s3tables.EntryTypeTable {
		return r, true
	}
	switch claim := string(e.GetExtended()[s3tables.ExtendedKeyDeleting]); claim {
	case "":
	case createClaim, renameDestClaim:
		return r, true
	default:
		r.table.Refused = "it is being changed in the catalog: " + claim
	}
	if failure != nil {
		r.lance = true
		r.table.Refused = fmt.Sprintf("its record can't be read: %v", failure)
		return r, true
	}
	if at.Format != s3tables.FormatLance {
		return r, true
	}
	r.lance = true
	if _, err := s3tables.ValidateTableName(e.GetName()); err != nil {
		r.table.Refused = err.Error()
		return r, true
	}
	dir, err := dataDir(bucket, place, at.MetadataLocation)
	if err != nil {
		r.table.Refused = err.Error()
		return r, true
	}
	r.table.Dir = dir
	if dir != r.roots[0] {
		// Its writers go by the location, whatever the catalog makes of it.
		r.roots = append(r.roots, dir)
		if r.table.Refused == "" {
			r.table.Refused = fmt.Sprintf("its location %s stands for %s to the catalog", at.MetadataLocation, r.roots[0])
		}
	}
	return r, true
}

// dataDir is the directory a Lance table's location names, which is the
// dataset's root as its writers use it. It must be inside the bucket, and its
// parts plain names: the catalog joins them to a path, and "../" would lead
// into another's data.
func dataDir(bucket, place, location string) (string, error) {
	if location == "" {
		return place, nil
	}
	inside, ok := strings.CutPrefix(location, "s3://"+bucket+"/")
	if !ok {
		return "", fmt.Errorf("its location %q is outside bucket %s", location, bucket)
	}
	inside = strings.TrimSuffix(inside, "/")
	for part := range strings.SplitSeq(inside, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\\x00") {
			return "", fmt.Errorf("its location %q is not a plain path", location)
		}
	}
	return path.Join(s3tables.TablesPath, bucket, inside), nil
}
