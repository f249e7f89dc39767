# syntax=docker/dockerfile:1
# "docker buildx imagetools inspect node:24-trixie-slim" prints the present digest.
ARG NODE=24-trixie-slim@sha256:ae91dcc111a68c9d2d81ff2a17bda61be126426176fde6fe7d08ab13b7f50573

FROM node:${NODE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund
# The context has no .git, from which the build takes the commit elsewhere.
ARG BUILD_ID=""
RUN if [ -n "$BUILD_ID" ]; then echo "$BUILD_ID" > dist/build-id.txt; fi

FROM node:${NODE}
ARG BUILD_ID="" VERSION=""
LABEL org.opencontainers.image.title="derbench" \
  org.opencontainers.image.description="Simulator of distributed energy resources with a SunSpec register map as the device state" \
  org.opencontainers.image.source="https://github.com/derbench/derbench" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${BUILD_ID}"
# Flags behind the image replace CMD, variables stay: so the listeners are reached from outside with any flags.
ENV NODE_ENV=production DERBENCH_WEBSITE_IP=0.0.0.0 DERBENCH_MB_HOST=0.0.0.0
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE /app/NOTICE ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/config config
# what agents read: resources of `mcp`, and `skill`
COPY --from=build /app/docs docs
COPY --from=build /app/skills skills
COPY --from=build /app/dist dist
USER 1000:1000
EXPOSE 8111 8502
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "/app/dist/main.js", "health", "--quiet"]
ENTRYPOINT ["node", "/app/dist/main.js"]
