package objects

import "context"

// Sub is the part of a store below a directory, as a store of its own: a branch
// of a table, say.
func Sub(s Store, dir string) Store { return sub{s, dir + "/"} }

type sub struct {
	s      Store
	prefix string
}

func (b sub) String() string { return b.s.String() + "/" + b.prefix[:len(b.prefix)-1] }

func (b sub) Open(ctx context.Context, name string) (Reader, error) {
	return b.s.Open(ctx, b.prefix+name)
}

func (b sub) Create(ctx context.Context, name string) (Writer, error) {
	return b.s.Create(ctx, b.prefix+name)
}

func (b sub) Publish(ctx context.Context, name string, content []byte) error {
	return b.s.Publish(ctx, b.prefix+name, content)
}

func (b sub) Replace(ctx context.Context, name string, content []byte) error {
	return b.s.Replace(ctx, b.prefix+name, content)
}

func (b sub) Delete(ctx context.Context, name string) error { return b.s.Delete(ctx, b.prefix+name) }

func (b sub) List(ctx context.Context, dir, from string, limit int) ([]Entry, error) {
	return b.s.List(ctx, b.prefix+dir, from, limit)
}

// ListOpen implements ListOpener.
func (b sub) ListOpen(ctx context.Context, dir, from string, limit int) ([]Listed, error) {
	return ListOpen(ctx, b.s, b.prefix+dir, from, limit)
}
