package block

import (
	"errors"
	"fmt"

	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/bitpack"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/column"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/fsst"
	"github.com/seaweedfs/seaweed-lance/internal/lance/encoding/general"
	"github.com/seaweedfs/seaweed-lance/internal/lance/pb"
)

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", column.ErrCorrupt, fmt.Sprintf(format, args...))
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", column.ErrUnsupported, fmt.Sprintf(format, args...))
}

// classed gives an error of the packages below the class that column has for it.
func classed(err error) error {
	var class error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, column.ErrCorrupt), errors.Is(err, column.ErrUnsupported), errors.Is(err, column.ErrLimit):
		return err
	case errors.Is(err, bitpack.ErrSize), errors.Is(err, fsst.ErrCorrupt), errors.Is(err, general.ErrCorrupt):
		class = column.ErrCorrupt
	case errors.Is(err, general.ErrLimit):
		class = column.ErrLimit
	case errors.Is(err, general.ErrScheme):
		class = column.ErrUnsupported
	default:
		return err
	}
	return fmt.Errorf("%w: %w", class, err)
}

// named puts the encoding in front of an error.
func named(enc *pb.CompressiveEncoding, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", Describe(enc), classed(err))
}
