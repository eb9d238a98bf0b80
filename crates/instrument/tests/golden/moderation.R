# Golden values of `statistics::moderation`, by limma: R's
#
#     Rscript moderation.R > moderation.json
#
# on Debian with r-bioc-limma. Three families of metrics: variances that differ, that are all the
# same (so that the prior is worth infinitely much), and such with unequal degrees of freedom.
suppressMessages(library(limma))

list_of <- function(x) {
  x <- ifelse(is.infinite(x), "null", sprintf("%.17g", x))
  paste0("[", paste(x, collapse = ", "), "]")
}

family <- function(name, seed, spread, metrics, n1, n2, missing = 0) {
  set.seed(seed)
  sigma <- 0.01 * sqrt(spread / rchisq(metrics, spread))
  x <- matrix(rnorm(metrics * (n1 + n2), sd = sigma), metrics)
  x[, n1 + seq_len(n2)] <- x[, n1 + seq_len(n2)] + rep(c(0, 0, 0.05, -0.1), length.out = metrics)
  # The first metrics lack a session on the first side.
  if (missing > 0) x[seq_len(missing), 1] <- NA
  side <- factor(rep(c("a", "b"), c(n1, n2)))
  fit <- lmFit(x, model.matrix(~ 0 + side))
  fit <- contrasts.fit(fit, matrix(c(-1, 1), 2))
  margin <- log(1.02)
  treated <- treat(fit, lfc = margin)
  se <- fit$stdev.unscaled[, 1] * sqrt(treated$s2.post)
  within <- pt((margin - abs(fit$coefficients[, 1])) / se, df = treated$df.total, lower.tail = FALSE)
  cat("{\n\"name\": \"", name, "\",\n", sep = "")
  cat("\"difference\": ", list_of(fit$coefficients[, 1]), ",\n", sep = "")
  cat("\"variance\": ", list_of(fit$sigma^2), ",\n", sep = "")
  cat("\"degrees\": ", list_of(fit$df.residual), ",\n", sep = "")
  cat("\"factor\": ", list_of(fit$stdev.unscaled[, 1]), ",\n", sep = "")
  cat("\"prior\": ", list_of(c(treated$s2.prior, treated$df.prior)), ",\n", sep = "")
  cat("\"posterior\": ", list_of(treated$s2.post), ",\n", sep = "")
  cat("\"total_degrees\": ", list_of(treated$df.total), ",\n", sep = "")
  cat("\"margin\": ", sprintf("%.17g", margin), ",\n", sep = "")
  cat("\"p_beyond\": ", list_of(treated$p.value[, 1]), ",\n", sep = "")
  cat("\"p_within\": ", list_of(within), ",\n", sep = "")
  cat("\"adjusted\": ", list_of(p.adjust(treated$p.value[, 1], "BH")), "\n}", sep = "")
}

cat("{\n\"made_by\": \"R ", as.character(getRversion()), ", limma ",
    as.character(packageVersion("limma")), ", moderation.R\",\n\"families\": [\n", sep = "")
family("different variances", 2004, 4, 24, 3, 3)
cat(",\n")
family("equal variances", 4, 1e6, 16, 4, 3)
cat(",\n")
family("unequal degrees of freedom", 7, 3, 20, 3, 2, missing = 6)
cat("\n]\n}\n")
