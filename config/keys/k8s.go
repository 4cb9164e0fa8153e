package keys

// k8sKeys are for agents in Kubernetes. They are read and shown; what is refused is an agent that would run there.
func k8sKeys() []Key {
	name := func(path, def, doc string) Key {
		return Key{Path: "session.k8s." + path, Kind: String, Def: def, Doc: doc}
	}
	return []Key{
		{Path: "session.k8s", Kind: Table, Doc: "For agents with the provider `k8s`. The table " +
			"is read and shown, but such agents are not started yet."},
		name("namespace", `"gc"`, "The namespace of the pods."),
		name("image", "", "The image of the pods."),
		name("context", "", "The context of the kubeconfig; left out, its current one."),
		name("cpu_request", `"500m"`, "Processors that a pod asks for."),
		name("mem_request", `"1Gi"`, "Memory that it asks for."),
		name("cpu_limit", `"2"`, "Processors that it gets at most."),
		name("mem_limit", `"4Gi"`, "Memory that it gets at most."),
	}
}
