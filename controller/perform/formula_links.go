package perform

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"gcity/agent"
	"gcity/formula"
)

// linkFormulas links the formulas of the city and of each rig into the folder .beads/formulas of that scope. A rig
// with an unusable folder is skipped, because its state says so. It returns the problems.
func (au *automations) linkFormulas(ctx context.Context, layers []formula.Layer,
	rigs []agent.Rig) (trouble []string) {
	link := func(name, scope, dir string, layers []formula.Layer) {
		var err error
		if !au.aside(ctx, name, muteLimit, func() func() {
			failed := linkInto(dir, layers)
			return func() { err = failed }
		}) {
			err = fmt.Errorf("a folder %w; its links stay as they are", errMute)
		}
		if err != nil {
			trouble = append(trouble, fmt.Sprintf("the formulas of %s are not linked: %v", scope,
				err))
		}
	}
	link("formulas", "the city", au.w.Dir, layersFor("", layers))
	for i := range rigs {
		if rig := &rigs[i]; rig.Problem == "" {
			link("formulas of "+rig.Name, "rig "+rig.Name, rig.Path, layersFor(rig.Name, layers))
		}
	}
	return trouble
}

// layersFor returns the layers in which a rig finds formulas; for "" those of the city.
func layersFor(rig string, layers []formula.Layer) []formula.Layer {
	return slices.DeleteFunc(slices.Clone(layers), func(l formula.Layer) bool {
		return l.Rig != "" && l.Rig != rig
	})
}

func linkInto(dir string, layers []formula.Layer) error {
	winners, err := formula.Resolve(layers)
	if err == nil {
		_, err = formula.Link(filepath.Join(dir, ".beads", "formulas"), winners)
	}
	return err
}
