package alias

import (
	"errors"
	"os"
	"testing"

	flag "github.com/seaweedfs/seaweedfs/weed/util/fla9"
)

func TestApply(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		want string
		both bool
	}{
		"neither":                         {want: "all"},
		"jobType alone":                   {args: []string{"-jobType=vacuum"}, want: "vacuum"},
		"jobs alone":                      {args: []string{"-jobs=lance_compact"}, want: "lance_compact"},
		"two dashes and a space":          {args: []string{"--jobs", "lance_compact,ec"}, want: "lance_compact,ec"},
		"both":                            {args: []string{"-jobs=a", "-jobType=b"}, both: true},
		"both alike":                      {args: []string{"-jobType=a", "-jobs=a"}, both: true},
		"JOBS of a build tool":            {env: map[string]string{"JOBS": "8"}, want: "all"},
		"JOBS of a build tool beside":     {args: []string{"-jobType=ec"}, env: map[string]string{"JOBS": "8"}, want: "ec"},
		"jobs equal to JOBS":              {args: []string{"-jobs=ec"}, env: map[string]string{"JOBS": "ec"}, want: "ec"},
		"jobs over JOBTYPE":               {args: []string{"-jobs=ec"}, env: map[string]string{"JOBTYPE": "vacuum"}, want: "ec"},
		"JOBTYPE alone is weed's own way": {env: map[string]string{"JOBTYPE": "vacuum"}, want: "vacuum"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, key := range []string{"JOBS", "JOBTYPE", "OPTIONS"} {
				t.Setenv(key, c.env[key]) // so that the test puts it back
				if c.env[key] == "" {
					os.Unsetenv(key)
				}
			}
			var flags flag.FlagSet
			jobType := flags.String("jobType", "all", "")
			flags.String("jobs", "", "")
			if err := flags.Parse(c.args); err != nil {
				t.Fatal(err)
			}
			err := Apply(&flags, "jobs", "jobType", append([]string{"weed", "worker"}, c.args...), os.LookupEnv)
			var both *BothError
			if errors.As(err, &both) != c.both || err != nil && !c.both {
				t.Fatalf("error %v, want both names refused: %v", err, c.both)
			}
			if err == nil && *jobType != c.want {
				t.Errorf("jobType is %q, want %q", *jobType, c.want)
			}
		})
	}
}
