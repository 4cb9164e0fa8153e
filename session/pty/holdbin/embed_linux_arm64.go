//go:build holder

package holdbin

import _ "embed"

//go:embed gcity-hold-linux-arm64
var image []byte
