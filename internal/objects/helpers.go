package objects

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// ListPage is how many entries All asks for at first; each further page is
// twice as large, up to maxPage: small directories cost a small answer, and a store
// that has to look at all names for each page looks few times.
const (
	ListPage = 1000
	maxPage  = 16 * ListPage
)

// CopyBuffer is how many bytes pass through memory at a time where a store
// can't copy inside itself.
const CopyBuffer = 4 << 20

// All calls yield for every entry of a directory, page by page, in order of
// names. It stops at the first error, its own or yield's.
func All(ctx context.Context, s Store, dir string, yield func(Entry) error) error {
	list := func(from string, limit int) ([]Entry, error) { return s.List(ctx, dir, from, limit) }
	return pages(list, func(e Entry) string { return e.Name }, yield)
}

// pages goes through the pages of a listing.
func pages[E any](list func(from string, limit int) ([]E, error), name func(E) string, yield func(E) error) error {
	from := ""
	for limit := ListPage; ; limit = min(2*limit, maxPage) {
		page, err := list(from, limit)
		if err != nil {
			return err
		}
		for _, e := range page {
			if err := yield(e); err != nil {
				return err
			}
		}
		if len(page) < limit {
			return nil
		}
		// The smallest name above the last one.
		from = name(page[len(page)-1]) + "\x00"
	}
}

// ReadAll reads a whole object of at most limit bytes.
func ReadAll(ctx context.Context, s Store, name string, limit int64) ([]byte, Entry, error) {
	r, err := s.Open(ctx, name)
	if err != nil {
		return nil, Entry{}, err
	}
	return readAll(ctx, r, limit)
}

func readAll(ctx context.Context, r Reader, limit int64) ([]byte, Entry, error) {
	defer r.Close()
	e := r.Entry()
	if e.Size > limit {
		return nil, e, fmt.Errorf("reading %s: %d bytes, more than the %d expected at most", e.Name, e.Size, limit)
	}
	p := make([]byte, e.Size)
	if err := r.ReadAt(ctx, p, 0); err != nil {
		return nil, e, err
	}
	return p, e, nil
}

// CopyRange appends n bytes of r, from off on, to w: as a RangeCopier where w is
// one, else through buf (CopyBuffer bytes are made when buf is empty).
func CopyRange(ctx context.Context, w Writer, r Reader, off, n int64, buf []byte) error {
	if c, ok := w.(RangeCopier); ok {
		if done, err := c.CopyRange(ctx, r, off, n); done || err != nil {
			return err
		}
	}
	if len(buf) == 0 {
		buf = make([]byte, min(n, CopyBuffer))
	}
	for n > 0 {
		p := buf[:min(n, int64(len(buf)))]
		if err := r.ReadAt(ctx, p, off); err != nil {
			return err
		}
		if _, err := w.Write(p); err != nil {
			return err
		}
		off, n = off+int64(len(p)), n-int64(len(p))
	}
	return nil
}

// CheckName reports a name that could lead outside a store's root.
func CheckName(name string) error {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\x00\\") {
			return fmt.Errorf("object name %q: not a plain relative path", name)
		}
	}
	return nil
}

// ErrShort is what Reader.ReadAt returns past the end of an object.
var ErrShort = io.ErrUnexpectedEOF

// temporaryPrefix begins the names of objects that are being written, in stores
// that have to give them one: ".tmp-" + last part of the final name + "-" + a
// random part. Lance takes such files, wherever they lie, for temporary ones too.
const temporaryPrefix = ".tmp-"

// TemporaryName is the name under which an object may be written, before it
// gets its own; random has no dash in it.
func TemporaryName(name, random string) string {
	dir, base := splitName(name)
	return dir + temporaryPrefix + base + "-" + random
}

// FinalName is the name that a temporary one stands for; ok is false for all others.
func FinalName(temporary string) (name string, ok bool) {
	dir, base := splitName(temporary)
	base, ok = strings.CutPrefix(base, temporaryPrefix)
	i := strings.LastIndexByte(base, '-')
	if !ok || i <= 0 {
		return "", false
	}
	return dir + base[:i], true
}

// splitName cuts a name behind its last slash.
func splitName(name string) (dir, base string) {
	i := strings.LastIndexByte(name, '/')
	return name[:i+1], name[i+1:]
}
