package lanceworker

import (
	"math"

	"github.com/seaweedfs/seaweedfs/weed/pb/plugin_pb"
)

// number is one integer setting of a job type: its field in the form, its
// default and its bounds.
type number struct {
	name  string
	label string
	help  string
	// def is the value where admin sent none, or one that is no number.
	def int64
	// min and max are what the form offers.
	min, max int64
	// floor, where it is set, is the lowest value that a request may carry; a
	// form's own minimum protects a person from a slip, not a test from itself.
	floor *int64
}

// read returns the value that admin sent, held to the bounds.
func (n number) read(values map[string]*plugin_pb.ConfigValue) int64 {
	v := n.def
	switch kind := values[n.name].GetKind().(type) {
	case *plugin_pb.ConfigValue_Int64Value:
		v = kind.Int64Value
	case *plugin_pb.ConfigValue_DoubleValue:
		v = truncate(kind.DoubleValue, n.def)
	}
	low := n.min
	if n.floor != nil {
		low = *n.floor
	}
	return min(max(v, low), n.max)
}

// truncate cuts the fraction off. What int64 can't hold becomes its nearest
// value, and what is no number the fallback.
func truncate(f float64, fallback int64) int64 {
	switch {
	case math.IsNaN(f):
		return fallback
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	default:
		return int64(f)
	}
}

func (n number) field() *plugin_pb.ConfigField {
	return &plugin_pb.ConfigField{
		Name:        n.name,
		Label:       n.label,
		Description: n.help,
		FieldType:   plugin_pb.ConfigFieldType_CONFIG_FIELD_TYPE_INT64,
		Widget:      plugin_pb.ConfigWidget_CONFIG_WIDGET_NUMBER,
		MinValue:    int64Value(n.min),
		MaxValue:    int64Value(n.max),
	}
}

// form makes a worker form of one section.
func form(id, title string, fields []number) *plugin_pb.ConfigForm {
	section := &plugin_pb.ConfigSection{SectionId: id + "-main", Title: title}
	for _, n := range fields {
		section.Fields = append(section.Fields, n.field())
	}
	return &plugin_pb.ConfigForm{
		FormId:        id,
		Title:         title,
		Sections:      []*plugin_pb.ConfigSection{section},
		DefaultValues: defaults(fields),
	}
}

func defaults(fields []number) map[string]*plugin_pb.ConfigValue {
	values := make(map[string]*plugin_pb.ConfigValue, len(fields))
	for _, n := range fields {
		values[n.name] = int64Value(n.def)
	}
	return values
}

func int64Value(v int64) *plugin_pb.ConfigValue {
	return &plugin_pb.ConfigValue{Kind: &plugin_pb.ConfigValue_Int64Value{Int64Value: v}}
}

func stringList(values []string) *plugin_pb.ConfigValue {
	return &plugin_pb.ConfigValue{Kind: &plugin_pb.ConfigValue_StringList{
		StringList: &plugin_pb.StringList{Values: values},
	}}
}
