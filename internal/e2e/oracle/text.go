package oracle

import (
	"encoding/json"
	"fmt"
	"reflect"
)

func (p *problems) addf(format string, args ...any) {
	*p = append(*p, fmt.Sprintf(format, args...))
}

// same reports two values that differ; a nil map or slice equals an empty one.
func (p *problems) same(what string, was, is any) {
	a, b := reflect.ValueOf(was), reflect.ValueOf(is)
	if (a.Kind() == reflect.Map || a.Kind() == reflect.Slice) && a.Len() == 0 && b.Len() == 0 {
		return
	}
	if !reflect.DeepEqual(was, is) {
		p.addf("%s: %v\nbecame %v", what, was, is)
	}
}

func unmarshal(b []byte, out any) error { return json.Unmarshal(b, out) }
