// Command weed is SeaweedFS's weed with the Lance jobs: the same commands, and
// besides them `weed lance`, `weed worker -jobs` and the job types that
// lanceworker registers.
package main

import (
	"os"

	"github.com/seaweedfs/seaweed-lance/internal/weed/cli"
	_ "github.com/seaweedfs/seaweed-lance/lanceworker"
	_ "github.com/seaweedfs/seaweed-lance/lanceworker/weedcmd"
)

func main() {
	os.Exit(cli.Main(os.Args[1:]))
}
