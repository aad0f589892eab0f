package table

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seaweedfs/seaweed-lance/internal/objects"
	"github.com/seaweedfs/seaweed-lance/internal/objects/faultstore"
)

var tagTime = time.Date(2026, 11, 30, 20, 50, 26, 599832849, time.FixedZone("", 3600))

// Byte by byte what pylance 14.0.2 wrote at that moment.
func TestCreateTagBytes(t *testing.T) {
	s := dirStore(t, t.TempDir())
	for _, c := range []struct {
		tag  Tag
		size int64
		want string
	}{
		{Tag{"foo.bar", "", 1}, 369, "{\n  \"branch\": null,\n  \"version\": 1,\n  \"createdAt\": \"2026-11-30T19:50:26.599832849Z\",\n" +
			"  \"updatedAt\": \"2026-11-30T19:50:26.599832849Z\",\n  \"manifestSize\": 369,\n  \"metadata\": {}\n}"},
		{Tag{"b1", "br", 1<<63 - 1}, 297, "{\n  \"branch\": \"br\",\n  \"version\": 9223372036854775807,\n  \"createdAt\": \"2026-11-30T19:50:26.599832849Z\",\n" +
			"  \"updatedAt\": \"2026-11-30T19:50:26.599832849Z\",\n  \"manifestSize\": 297,\n  \"metadata\": {}\n}"},
	} {
		if err := CreateTag(t.Context(), s, c.tag, c.size, tagTime); err != nil {
			t.Fatal(err)
		}
		b, _, err := objects.ReadAll(t.Context(), s, TagsDir+"/"+c.tag.Name+".json", maxRef)
		if err != nil || string(b) != c.want {
			t.Errorf("%s, error %v", b, err)
		}
	}
	got, err := Tags(t.Context(), s)
	if want := []Tag{{"b1", "br", 1<<63 - 1}, {"foo.bar", "", 1}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, error %v", got, err)
	}
}

func TestCreateTagTaken(t *testing.T) {
	s := dirStore(t, t.TempDir())
	for _, first := range []bool{true, false} {
		err := CreateTag(t.Context(), s, Tag{Name: "a", Version: 3}, 1, tagTime)
		if (err == nil) != first || !first && !errors.Is(err, objects.ErrExists) {
			t.Errorf("first %v: error %v", first, err)
		}
	}
	// The one that was there stays.
	if err := CreateTag(t.Context(), s, Tag{Name: "a", Version: 4}, 1, tagTime); !errors.Is(err, objects.ErrExists) {
		t.Errorf("error %v", err)
	}
	if got, err := Tags(t.Context(), s); err != nil || !slices.Equal(got, []Tag{{"a", "", 3}}) {
		t.Errorf("%v, error %v", got, err)
	}
}

func TestTagNamesThatLanceRefuses(t *testing.T) {
	s := dirStore(t, t.TempDir())
	for name, want := range map[string]string{
		"": "is empty", "a/b": "'/'", "a b": "' '", "ä": "'ä'", "a%": "'%'", ".a": "a dot", "a.": "a dot",
		"a..b": "two dots", "a.lock": ".lock", "..": "a dot", "\xff": "holds",
	} {
		err := CreateTag(t.Context(), s, Tag{Name: name, Version: 1}, 1, tagTime)
		says(t, err, want)
	}
	for _, name := range []string{"a", "A.b-c_9", "-", "_", "lock", "a.lock.b"} {
		if err := CreateTag(t.Context(), s, Tag{Name: name, Version: 1}, 1, tagTime); err != nil {
			t.Error(err)
		}
	}
	if names, err := TagNames(t.Context(), s); err != nil || len(names) != 6 {
		t.Errorf("%q, error %v", names, err)
	}
}

func TestDeleteTag(t *testing.T) {
	s := dirStore(t, t.TempDir())
	if names, err := TagNames(t.Context(), s); err != nil || len(names) != 0 {
		t.Errorf("no directory: %q, error %v", names, err)
	}
	for _, name := range []string{"b", "a", "c"} {
		if err := CreateTag(t.Context(), s, Tag{Name: name, Version: 1}, 1, tagTime); err != nil {
			t.Fatal(err)
		}
	}
	write(t, s, TagsDir+"/readme.txt", "no tag")
	write(t, s, TagsDir+"/dir.json/x", "a directory")
	for range 2 { // the second time it is not there any more
		if err := DeleteTag(t.Context(), s, "b"); err != nil {
			t.Error(err)
		}
	}
	names, err := TagNames(t.Context(), s)
	if err != nil || !slices.Equal(names, []string{"a", "c"}) {
		t.Errorf("%q, error %v", names, err)
	}
	if err := DeleteTag(t.Context(), s, "../x"); err == nil {
		t.Error("a name led out of the directory")
	}
}

func TestTagsStoreFails(t *testing.T) {
	boom := errors.New("boom")
	for _, op := range []faultstore.Op{faultstore.Publish, faultstore.Delete, faultstore.List} {
		for _, fault := range []error{boom, objects.ErrDenied, objects.ErrUnknown} {
			s := faultstore.New(dirStore(t, t.TempDir()), faultstore.When(faultstore.On(faultstore.Before, op, TagsDir), faultstore.Fail(fault)))
			_, listed := TagNames(t.Context(), s)
			for at, err := range map[faultstore.Op]error{
				faultstore.Publish: CreateTag(t.Context(), s, Tag{Name: "a", Version: 1}, 1, tagTime),
				faultstore.Delete:  DeleteTag(t.Context(), s, "a"),
				faultstore.List:    listed,
			} {
				if at == op && !errors.Is(err, fault) || at != op && err != nil {
					t.Errorf("%s fails with %v: %s says %v", op, fault, at, err)
				}
			}
		}
	}
}
