/** Reading of the issues of zod, for the words of configuration and interface alike. */
import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** Of the branches of a union, the one that the value was meant for: the only one that does not refuse it as a whole. */
export function meantBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const asWhole = ({ code, path }: Issue) => path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
  const fitting = branches.filter((issues) => !issues.some(asWhole));
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** Whether the schema brings words of its own for this issue. */
export function hasOwnWords({ message }: Issue): boolean {
  return !message.startsWith('Invalid ');
}
