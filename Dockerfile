# One image for all roles, named by the command: dist/api/main.js, dist/worker/main.js,
# dist/relayer/main.js, dist/signer/main.js, dist/admin/migrate.js. The target `devnet` runs local test chains instead.

FROM node:24-bookworm-slim AS base
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates tini \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# The shared volume of the local chains takes its owner from the first image that mounts it.
RUN mkdir -p /devnet/state && chown -R node:node /devnet
ENTRYPOINT ["tini", "--"]

FROM base AS build
COPY package.json package-lock.json .npmrc ./
COPY clients/cli/package.json ./clients/cli/
COPY clients/examples/savings-app-ts/package.json ./clients/examples/savings-app-ts/
COPY clients/typescript/package.json ./clients/typescript/
COPY clients/dashboard/package.json ./clients/dashboard/
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM base AS packages
COPY package.json package-lock.json .npmrc ./
COPY clients/cli/package.json ./clients/cli/
COPY clients/examples/savings-app-ts/package.json ./clients/examples/savings-app-ts/
COPY clients/typescript/package.json ./clients/typescript/
COPY clients/dashboard/package.json ./clients/dashboard/
# Without the native parts for other platforms.
RUN npm ci --omit=dev --ignore-scripts \
  && npm cache clean --force \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
    ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -rf {} +

FROM build AS devnet
ENV NODE_ENV=development
# Compiled contracts are kept here.
RUN mkdir -p node_modules/.cache && chown node:node node_modules/.cache
USER node
CMD ["node_modules/.bin/tsx", "dev/devnet/main.ts"]

FROM base AS service
# dev/stack/parts.ts has the figures.
ENV NODE_ENV=production \
  NODE_OPTIONS="--enable-source-maps --max-semi-space-size=4" \
  MALLOC_ARENA_MAX=2
COPY package.json ./
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/clients/dashboard/dist ./clients/dashboard/dist
COPY --from=build /app/docs ./docs
RUN mkdir -p /var/lib/steward && chown node:node /var/lib/steward && chmod 700 /var/lib/steward
USER node
EXPOSE 3000
CMD ["node", "dist/api/main.js"]
