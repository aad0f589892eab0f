package table

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

const (
	manifestFooter = 16
	lengthPrefix   = 4
	magic          = "LANC"
	// The container version of every manifest, whatever the data files' is. The
	// releases before 1.0 wrote oldMinor, and all releases read both.
	manifestMajor, manifestMinor, oldMinor = 0, 2, 1
	// maxInlineTransaction is where Lance stops to repeat the transaction
	// inside the manifest.
	maxInlineTransaction = 20 << 20
	// fieldFragmentTree would hold fragments outside the list that we read.
	fieldFragmentTree = 22
)

// manifestFile is a manifest object taken apart.
type manifestFile struct {
	manifest *pb.Manifest
	// indexSection is the encoded IndexSection; nil when there is none. It is
	// carried as it is, so that entries which can't be decoded survive.
	indexSection []byte
	// transaction is the encoded inline transaction; nil when there is none.
	transaction []byte
}

func corrupt(name, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", name, ErrCorrupt, fmt.Sprintf(format, args...))
}

func refused(name, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", name, ErrRefused, fmt.Sprintf(format, args...))
}

// decodeManifest takes a manifest object apart. The result keeps parts of b.
func decodeManifest(name string, b []byte) (*manifestFile, error) {
	if len(b) < manifestFooter+lengthPrefix {
		return nil, corrupt(name, "%d bytes are too few for a manifest", len(b))
	}
	foot := b[len(b)-manifestFooter:]
	if got := string(foot[12:]); got != magic {
		return nil, corrupt(name, "ends with %q where a manifest has %q", got, magic)
	}
	major, minor := binary.LittleEndian.Uint16(foot[8:]), binary.LittleEndian.Uint16(foot[10:])
	if major != manifestMajor || minor != manifestMinor && minor != oldMinor {
		return nil, refused(name, "manifest of container version %d.%d, not %d.%d", major, minor, manifestMajor, manifestMinor)
	}
	raw, err := section(name, "manifest", b, binary.LittleEndian.Uint64(foot))
	if err != nil {
		return nil, err
	}
	m := new(pb.Manifest)
	if err := pb.Unmarshal(raw, m); err != nil {
		return nil, corrupt(name, "manifest message: %v", err)
	}
	if hasField(m.ProtoReflect().GetUnknown(), fieldFragmentTree) {
		return nil, refused(name, "the manifest keeps fragments in a tree (field %d), which this build does not read", fieldFragmentTree)
	}
	f := &manifestFile{manifest: m}
	if m.IndexSection != nil {
		if f.indexSection, err = section(name, "index section", b, m.GetIndexSection()); err != nil {
			return nil, err
		}
	}
	pos := m.TransactionSection
	if pos == nil {
		pos = m.TransactionSectionV13
	}
	if pos != nil {
		// A broken inline transaction must not stop a reader: the file below
		// _transactions says the same.
		if t, err := section(name, "transaction", b, *pos); err == nil {
			f.transaction = t
		}
	}
	return f, nil
}

// section returns the length-prefixed message at pos, which ends before the footer.
func section(name, what string, b []byte, pos uint64) ([]byte, error) {
	end := uint64(len(b) - manifestFooter)
	if pos > end || end-pos < lengthPrefix {
		return nil, corrupt(name, "%s at position %d of %d bytes", what, pos, len(b))
	}
	n := uint64(binary.LittleEndian.Uint32(b[pos:]))
	if n > end-pos-lengthPrefix {
		return nil, corrupt(name, "%s of %d bytes at position %d does not fit into %d bytes", what, n, pos, len(b))
	}
	return b[pos+lengthPrefix : pos+lengthPrefix+n], nil
}

// encode puts a manifest object together. The positions inside the manifest
// are set here: one carried over from another object makes a table unreadable.
func (f *manifestFile) encode() ([]byte, error) {
	m := f.manifest
	m.IndexSection, m.TransactionSection, m.TransactionSectionV13 = nil, nil, nil
	var b []byte
	if f.indexSection != nil {
		m.IndexSection = proto.Uint64(uint64(len(b)))
		b = appendSection(b, f.indexSection)
	}
	if f.transaction != nil && len(f.transaction) <= maxInlineTransaction {
		// Releases up to 13 look at one field, later ones at the other.
		m.TransactionSection = proto.Uint64(uint64(len(b)))
		m.TransactionSectionV13 = proto.Uint64(uint64(len(b)))
		b = appendSection(b, f.transaction)
	}
	pos := uint64(len(b))
	// Deterministic, so that a lost create is sent again with the same bytes.
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encoding manifest: %w", err)
	}
	b = appendSection(b, raw)
	b = binary.LittleEndian.AppendUint64(b, pos)
	b = binary.LittleEndian.AppendUint16(b, manifestMajor)
	b = binary.LittleEndian.AppendUint16(b, manifestMinor)
	return append(b, magic...), nil
}

func appendSection(b, msg []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(msg)))
	return append(b, msg...)
}

// hasField tells whether undecoded fields hold one of the given number.
func hasField(unknown []byte, number protowire.Number) bool {
	found := false
	eachUnknown(unknown, func(n protowire.Number) { found = found || n == number })
	return found
}

// eachUnknown calls f with the number of every undecoded field.
func eachUnknown(unknown []byte, f func(protowire.Number)) {
	for len(unknown) > 0 {
		n, _, size := protowire.ConsumeField(unknown)
		if size < 0 {
			return
		}
		f(n)
		unknown = unknown[size:]
	}
}
