// Gives an agent its prompt and its unread mail. Outside an agent's session it does nothing.
import { execFile } from "node:child_process";

const ask = (directory, ...args) =>
  new Promise((resolve) => {
    const options = { cwd: directory, timeout: 30_000, maxBuffer: 4 * 1024 * 1024 };
    execFile("gc", args, options, (error, stdout) => resolve(error ? "" : stdout.trim()));
  });

export const Gcity = async ({ directory }) => {
  if (!process.env.GC_AGENT) return {};
  let told = "";
  const prime = async () => {
    told = await ask(directory, "prime", "--hook");
  };
  return {
    event: async ({ event }) => {
      if (event.type === "session.created" || event.type === "session.compacted") await prime();
    },
    "experimental.chat.system.transform": async (_input, output) => {
      if (told === "") await prime();
      for (const text of [told, await ask(directory, "mail", "check", "--inject")]) {
        if (text !== "") output.system.push(text);
      }
    },
  };
};
