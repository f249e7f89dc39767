import { z } from 'zod';

/** Not enumerable: zod copies every enumerable member, bound, into each schema. */
const plain: PropertyDescriptor = {
  value(this: z.ZodType) {
    return this;
  },
};

/**
 * Replaces `zod.ts` in the build, where the description is a finished file: `.openapi()` keeps nothing, which saves a
 * second copy of most schemas. The prototypes of zod's types do not inherit from each other.
 */
for (const [name, type] of Object.entries<unknown>(z))
  if (name.startsWith('Zod') && typeof type === 'function') Object.defineProperty(type.prototype, 'openapi', plain);

export { z };
