// Package objects says what the storage of one table can do, and nothing of
// how: a Store is one table's root, and the packages below this one keep it on
// a SeaweedFS cluster, in a local directory, or break it on purpose for tests.
//
// Names are slash-separated and relative to the root ("data/1010….lance"); no
// part is empty, "." or "..". Directories are not things of their own: one
// exists as long as something lies in it.
//
// # Contract of every Store
//
//   - Nothing is ever half there. An object appears whole or not at all, and
//     never replaces another one, but through Replace.
//   - A method that returns nil has happened. One that returns an error has
//     not happened, unless the error is ErrUnknown: then it may have, may still
//     do so later, and the caller has to look.
//   - A page of a listing is complete up to its limit, or it is an error.
//   - Every method honours its context. A context that ends while a create is
//     under way makes the outcome unknown, not failed.
//   - All methods may be called from many goroutines at once.
package objects

import (
	"context"
	"io"
	"time"
)

// Entry describes one object, or one directory in a listing.
type Entry struct {
	// Name is the last part of the object's name in listings and the whole
	// name elsewhere.
	Name string
	// Dir tells that this is a directory; the other fields are then unset.
	Dir bool
	// Size in bytes.
	Size int64
	// ModTime is when the object appeared, by the store's clock.
	ModTime time.Time
	// Token identifies this very object: the ETag and who wrote it on a
	// cluster; inode, size and time in a directory. Two objects that had the same
	// name one after the other have different tokens, even with the same
	// content. Empty where the store knows none.
	Token string
}

// Store is the storage of one table.
type Store interface {
	// String names the root for people: a path, or bucket/namespace/table.
	String() string

	// Open looks an object up for reading. ErrNotFound when there is none.
	Open(ctx context.Context, name string) (Reader, error)

	// Create starts a new object that is written as a stream. Nothing is
	// visible before Writer.Finish. Whether the name is taken may be noticed
	// here or in Finish.
	Create(ctx context.Context, name string) (Writer, error)

	// Publish creates a small object at once, or fails with ErrExists when the
	// name is taken by another. A create whose answer is lost is sent again as
	// the same exclusive create: when the object that is there then is
	// recognisably the one this call made, Publish has succeeded; when it is
	// recognisably another's, ErrExists. Where that can't be told, ErrUnknown.
	Publish(ctx context.Context, name string, content []byte) error

	// Replace writes a small object whether or not the name is taken. Readers
	// see the old content or the new. Only hints and this module's own
	// journals are ever replaced.
	Replace(ctx context.Context, name string, content []byte) error

	// Delete removes an object; one that is not there is a success.
	Delete(ctx context.Context, name string) error

	// List returns the entries of one directory whose names are >= from, in
	// byte order of their names, at most limit of them (limit > 0). Fewer than
	// limit means that there are no more. A directory that does not exist is empty.
	List(ctx context.Context, dir, from string, limit int) ([]Entry, error)
}

// Reader reads one object as it was when it was opened.
type Reader interface {
	// Entry describes the object; Name is its whole name.
	Entry() Entry
	// ReadAt fills p from the offset on. Anything less than the whole of p is an error:
	// io.ErrUnexpectedEOF when the object ends before. Nothing is cached.
	ReadAt(ctx context.Context, p []byte, off int64) error
	io.Closer
}

// Writer makes one object. Exactly one of Finish and Abort ends it; Abort
// after Finish does nothing, so it may be deferred.
type Writer interface {
	io.Writer
	// Finish makes the object visible. ErrExists when the name was taken
	// meanwhile, ErrUnknown when the answer was lost.
	Finish(ctx context.Context) (Entry, error)
	// Abort drops everything that was written.
	Abort()
}

// RangeCopier is a Writer that has a better way to take bytes from an object of
// the same store than reading and writing them. Use CopyRange.
type RangeCopier interface {
	// CopyRange appends n bytes of r from the offset on. ok is false, and nothing was
	// written, when r is not something that this writer can copy from. It may go on
	// reading after it has returned, also when r was closed; if that fails, so
	// does a later call, at the latest Finish.
	CopyRange(ctx context.Context, r Reader, off, n int64) (ok bool, err error)
}
