package keys

func k8sKeys() []Key {
	name := func(path, def, doc string) Key {
		return Key{Path: "session.k8s." + path, Kind: String, Def: def, Doc: doc}
	}
	file := func(path, doc string) Key {
		k := name(path, "", doc)
		k.Check = checkPath
		return k
	}
	policy := name("image_pull_policy", "", "When the cluster pulls images: `Always`, "+
		"`IfNotPresent` or `Never`. Default: the cluster's default.")
	policy.Enum = []string{"Always", "IfNotPresent", "Never"}
	return []Key{
		{Path: "session.k8s", Kind: Table, Doc: "Pods for agents with the session provider " +
			"`k8s`; see [kubernetes.md](kubernetes.md). If a key is not set, gcity uses an " +
			"environment variable instead, for example `GC_K8S_IMAGE` for `image`. A change " +
			"takes effect at the controller's next start, which restarts the agents in pods " +
			"if `image` has changed."},
		file("kubeconfig", "The kubeconfig: an absolute path, or relative to the file that "+
			"contains the key. Default: `KUBECONFIG`, or else `~/.kube/config`."),
		name("context", "", "The context in the kubeconfig. Default: its current context."),
		name("namespace", `"gc"`, "The namespace for the pods."),
		name("image", "", "The image for the pods. It must contain the agents' programs. "+
			"Required."),
		name("tools_image", "", "The image that contains `gcity-pod`. Required."),
		policy,
		name("service_account", "", "The service account for the pods. Its token is not mounted."),
		{Path: "session.k8s.node_selector", Kind: Env,
			Doc: "Labels that the pods' nodes must have."},
		name("cpu_request", `"500m"`, "The CPU that a pod requests."),
		name("mem_request", `"1Gi"`, "The memory that a pod requests."),
		name("cpu_limit", `"2"`, "A pod's CPU limit."),
		name("mem_limit", `"4Gi"`, "A pod's memory limit."),
		file("pod", "A YAML file that gcity merges into each pod, for volumes, tolerations and "+
			"secrets: an absolute path, or relative to the file that contains the key."),
	}
}
