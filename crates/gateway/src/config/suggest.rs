//! The name that was probably meant.
//!
//! Belongs here: nearness of names.
//! Does not belong here: which names exist.

use strsim::damerau_levenshtein;

/// The candidate nearest to `word`, if one is near: a slip or two, another case, `-` for `_`, an end
/// left out or added.
pub(super) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance costs the product of both lengths, and no name is this long.
    if word.len() > 64 {
        return None;
    }
    let word = fold(word);
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    let distance = |candidate: &str| {
        let candidate = fold(candidate);
        let is_cut = candidate.starts_with(&word) || word.starts_with(&candidate);
        if is_cut && word.len().min(candidate.len()) >= 4 {
            1
        } else {
            damerau_levenshtein(&word, &candidate)
        }
    };
    candidates
        .into_iter()
        .map(|candidate| (distance(candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, candidate)| (*distance, candidate.len().abs_diff(word.len())))
        .map(|(_, candidate)| candidate)
}

/// A hint that names the nearest candidate, or lists all when they are few.
pub(super) fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    if let Some(name) = nearest(word, candidates.clone()) {
        return Some(format!("did you mean `{name}`?"));
    }
    let all: Vec<String> = candidates.into_iter().map(|candidate| format!("`{candidate}`")).collect();
    match all.len() {
        0 => None,
        1 => Some(format!("there is only {}", all.concat())),
        2..=24 => Some(format!("there are {}", all.join(", "))),
        _ => None,
    }
}

fn fold(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_near_and_other_words_are_not() {
        let keys = ["target", "title", "method", "max_length"];
        assert_eq!(nearest("taget", keys), Some("target"));
        assert_eq!(nearest("tagret", keys), Some("target"));
        assert_eq!(nearest("Max-Length", keys), Some("max_length"));
        assert_eq!(nearest("max_length_bytes", keys), Some("max_length"));
        assert_eq!(nearest("meth", keys), Some("method"));
        assert_eq!(nearest("http-requests", ["http", "http-request"]), Some("http-request"));
        assert_eq!(nearest("url", keys), None);
        assert_eq!(nearest(&"t".repeat(100), keys), None);
    }
}
