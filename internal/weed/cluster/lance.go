package cluster

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// Lance is a client of the Lance namespace server, the door that writers of
// tables come in by. A path is the parts of a name: bucket, namespace, table.
type Lance struct{ base string }

// URL of the namespace server, for writers of other languages.
func (l *Lance) URL() string { return l.base }

// Namespaces lists the children of a namespace; without a path, the table buckets.
func (l *Lance) Namespaces(ctx context.Context, path ...string) ([]string, error) {
	var out struct {
		Namespaces []string `json:"namespaces"`
	}
	err := l.call(ctx, http.MethodGet, "namespace", path, "list", nil, &out)
	return out.Namespaces, err
}

// CreateNamespace makes a table bucket, or with more parts a namespace in one.
// One that is there already is a success.
func (l *Lance) CreateNamespace(ctx context.Context, path ...string) error {
	return l.call(ctx, http.MethodPost, "namespace", path, "create", map[string]string{"mode": "ExistOk"}, nil)
}

// CreateTable declares a table that a writer is to fill, together with its
// namespace, and returns the location.
func (l *Lance) CreateTable(ctx context.Context, path ...string) (string, error) {
	if err := l.CreateNamespace(ctx, path[:len(path)-1]...); err != nil {
		return "", err
	}
	var out struct {
		Location string `json:"location"`
	}
	err := l.call(ctx, http.MethodPost, "table", path, "declare", struct{}{}, &out)
	return out.Location, err
}

// RenameTable gives a table another name; its files stay where they are.
func (l *Lance) RenameTable(ctx context.Context, from, to []string) error {
	return l.call(ctx, http.MethodPost, "table", from, "rename", map[string][]string{"new_id": to}, nil)
}

// DeregisterTable takes a table out of the catalog; its files stay.
func (l *Lance) DeregisterTable(ctx context.Context, path ...string) error {
	return l.call(ctx, http.MethodPost, "table", path, "deregister", struct{}{}, nil)
}

// DropTable removes a table and its files.
func (l *Lance) DropTable(ctx context.Context, path ...string) error {
	return l.call(ctx, http.MethodPost, "table", path, "drop", struct{}{}, nil)
}

func (l *Lance) call(ctx context.Context, method, kind string, path []string, action string, in, out any) error {
	id := strings.Join(path, "$")
	if id == "" {
		id = "$"
	}
	u := l.base + "/v1/" + kind + "/" + url.PathEscape(id) + "/" + action
	return call(ctx, method, u, http.Header{"X-Api-Key": {AccessKey + ":" + SecretKey}}, in, out)
}
