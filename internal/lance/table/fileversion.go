package table

import (
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

// FileVersion is the version of the data file format.
type FileVersion struct{ Major, Minor uint32 }

// The versions that this build reads and writes.
var (
	V2_0 = FileVersion{2, 0}
	V2_1 = FileVersion{2, 1}
	V2_2 = FileVersion{2, 2}
)

func (v FileVersion) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Supported tells whether this build handles data files of the version.
func (v FileVersion) Supported() bool { return v == V2_0 || v == V2_1 || v == V2_2 }

// DataFileVersion is the version that a fragment's entry says its file has. The
// pair (0, 3) is the older spelling of 2.0.
func DataFileVersion(f *pb.DataFile) FileVersion {
	return NormalVersion(f.GetFileMajorVersion(), f.GetFileMinorVersion())
}

// NormalVersion maps both spellings of 2.0 to one.
func NormalVersion(major, minor uint32) FileVersion {
	if major == 0 && minor == 3 {
		return V2_0
	}
	return FileVersion{major, minor}
}

// fileVersionOf finds the version of a table's data files: what the manifest
// says, else what its files are, else what its flags tell.
func fileVersionOf(name string, m *pb.Manifest) (FileVersion, error) {
	v := FileVersion{0, 1}
	if df := m.GetDataFormat(); df != nil {
		if ff := df.GetFileFormat(); ff != "lance" && ff != "" {
			return v, refused(name, "data files of format %q", ff)
		}
		if _, err := fmt.Sscanf(df.GetVersion(), "%d.%d", &v.Major, &v.Minor); err != nil || v.String() != df.GetVersion() {
			return v, refused(name, "data files of version %q", df.GetVersion())
		}
		v = NormalVersion(v.Major, v.Minor)
	} else if fs := m.GetFragments(); len(fs) > 0 && len(fs[0].GetFiles()) > 0 {
		v = DataFileVersion(fs[0].GetFiles()[0])
	} else if m.GetWriterFeatureFlags()&FlagV2Files != 0 {
		v = V2_0
	}
	if !v.Supported() {
		return v, refused(name, "data files of version %s; this build handles 2.0, 2.1 and 2.2", v)
	}
	return v, nil
}
